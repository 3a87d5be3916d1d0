import CZlib
import Foundation
import Locking

/// Deflates into one gzip member (RFC 1952), block by block on as many threads as the machine has cores.
///
/// Blocks have a fixed size, independent of the pieces that are written, and each is deflated with the preceding 32
/// KiB as a dictionary. So the result depends only on content and level, not on the number of threads or their order.
/// Memory is bounded by a few blocks per thread. The deflater itself is used from one thread at a time.
final class GzipDeflater {
  static let blockBytes = 128 << 10
  /// How far deflate data may refer back (RFC 1951, section 2).
  private static let dictionaryBytesMax = 32 << 10
  /// With more threads the writing thread is the bottleneck.
  private static let workersDefaultMax = 8
  /// Blocks deflated ahead of the one that is stored next.
  private static let blocksPerWorker = 2

  /// A block, and the queue for its result.
  private struct Job: Sendable {
    let block: DeflateBlock
    let result: BoundedQueue<BlockResult>
  }
  private typealias BlockResult = Result<DeflatedBlock, CSVError>

  private let level: Int
  private let workersMax: Int
  private var workerCount = 0
  private let jobs: BoundedQueue<Job>
  /// The results of the submitted blocks, in order.
  private var results: [BoundedQueue<BlockResult>] = []
  /// The dictionary of the next block, followed by the bytes written since.
  private var pending: [UInt8] = []
  private var dictionaryBytes = 0
  private var hasHeader = false
  private var checksum = crc32(0, nil, 0)
  private var contentBytes = 0

  /// - Parameters:
  ///   - level: 1 to 9; deflating fails for any other.
  ///   - workersMax: the largest number of threads; they are started on demand.
  init(level: Int, workersMax: Int = min(ProcessInfo.processInfo.activeProcessorCount, workersDefaultMax)) {
    self.level = level
    self.workersMax = workersMax
    // The capacity includes the end markers, so that sending never waits.
    jobs = BoundedQueue(capacity: (Self.blocksPerWorker + 1) * workersMax + 1)
  }

  deinit {
    for _ in 0..<workerCount { jobs.finish() }
  }

  /// Writes all of `bytes`; finished blocks go to `put`.
  func write(
    _ bytes: UnsafeRawBufferPointer, to put: (UnsafeRawBufferPointer) throws(CSVError) -> Void
  ) throws(CSVError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = min(rest.count, dictionaryBytes + Self.blockBytes - pending.count)
      pending += rest[..<count]
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      if pending.count == dictionaryBytes + Self.blockBytes { try submitBlock(put) }
    }
  }

  /// Ends the gzip member.
  func finish(to put: (UnsafeRawBufferPointer) throws(CSVError) -> Void) throws(CSVError) {
    // The calling thread deflates the last block while the workers do the others: most small files are one block and
    // need no thread.
    let last = try BlockDeflater(level: level)
      .deflated(DeflateBlock(bytes: pending, dictionaryBytes: dictionaryBytes, isLast: true))
    pending = []
    while !results.isEmpty { try storeFirst(put) }
    try store(last, put)
    // CRC-32 and length modulo 2^32, low byte first (RFC 1952, section 2.3.1).
    let trailer = [UInt64(checksum), UInt64(contentBytes)].flatMap { number in
      stride(from: 0, to: 32, by: 8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
    try Self.put(trailer, put)
  }

  // MARK: Blocks

  private func submitBlock(_ put: (UnsafeRawBufferPointer) throws(CSVError) -> Void) throws(CSVError) {
    if results.count >= Self.blocksPerWorker * workersMax { try storeFirst(put) }
    if workerCount < min(workersMax, results.count + 1) { startWorker() }
    let block = DeflateBlock(bytes: pending, dictionaryBytes: dictionaryBytes, isLast: false)
    let result = BoundedQueue<BlockResult>(capacity: 1)
    results.append(result)
    _ = jobs.send(Job(block: block, result: result))
    dictionaryBytes = Self.dictionaryBytesMax
    pending = []
    pending.reserveCapacity(dictionaryBytes + Self.blockBytes)
    pending += block.bytes.suffix(dictionaryBytes)
  }

  /// Waits for the first block that is not stored yet, and stores it.
  private func storeFirst(_ put: (UnsafeRawBufferPointer) throws(CSVError) -> Void) throws(CSVError) {
    guard let result = results.removeFirst().receive() else {
      preconditionFailure("every submitted block has a result")
    }
    try store(try result.get(), put)
  }

  private func store(
    _ block: DeflatedBlock, _ put: (UnsafeRawBufferPointer) throws(CSVError) -> Void
  ) throws(CSVError) {
    if !hasHeader {
      hasHeader = true
      try Self.put(header, put)
    }
    checksum = crc32_combine(checksum, block.checksum, block.contentBytes)
    contentBytes += block.contentBytes
    try Self.put(block.bytes, put)
  }

  /// No time, no name, and 255 for an unknown system (RFC 1952, section 2.3.1): only the level is recorded.
  private var header: [UInt8] {
    let effort: UInt8 = level == 9 ? 2 : level == 1 ? 4 : 0
    return [0x1F, 0x8B, UInt8(Z_DEFLATED), 0, 0, 0, 0, 0, effort, 255]
  }

  private static func put(
    _ bytes: [UInt8], _ put: (UnsafeRawBufferPointer) throws(CSVError) -> Void
  ) throws(CSVError) {
    try bytes.withUnsafeBufferPointer { bytes throws(CSVError) in try put(UnsafeRawBufferPointer(bytes)) }
  }

  // MARK: Workers

  private func startWorker() {
    workerCount += 1
    let (jobs, level) = (jobs, level)
    Thread.begin("deflate \(workerCount)") {
      let deflater = Result { () throws(CSVError) in try BlockDeflater(level: level) }
      while let job = jobs.receive() { _ = job.result.send(deflater.map { $0.deflated(job.block) }) }
    }
  }

}
