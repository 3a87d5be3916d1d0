import CISAL
import Foundation
import SystemSupport

/// Deflates into one gzip member (RFC 1952), block by block on as many threads as the machine has cores.
///
/// Blocks have a fixed size, independent of the pieces that are written, and each is deflated with the preceding 32
/// KiB as a dictionary. So the result depends only on the content, not on the number of threads or their order.
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
    let result: BoundedQueue<DeflatedBlock>
  }

  /// A block as stored, with its content, whose checksum is still to be computed.
  private struct DeflatedBlock: Sendable {
    let block: DeflateBlock
    let bytes: [UInt8]
  }

  private let workersMax: Int
  private var workerCount = 0
  private let jobs: BoundedQueue<Job>
  /// The results of the submitted blocks, in order.
  private var results: [BoundedQueue<DeflatedBlock>] = []
  /// The dictionary of the next block, followed by the bytes written since.
  private var pending: [UInt8] = []
  private var dictionaryBytes = 0
  private var hasHeader = false
  private var checksum: UInt32 = 0
  private var contentBytes = 0

  /// - Parameter workersMax: the largest number of threads; they are started on demand.
  init(workersMax: Int = min(ProcessInfo.processInfo.activeProcessorCount, workersDefaultMax)) {
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
    let block = DeflateBlock(bytes: pending, dictionaryBytes: dictionaryBytes, isLast: true)
    let last = DeflatedBlock(block: block, bytes: BlockDeflater().deflated(block))
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
    let result = BoundedQueue<DeflatedBlock>(capacity: 1)
    results.append(result)
    _ = jobs.send(Job(block: block, result: result))
    dictionaryBytes = Self.dictionaryBytesMax
    pending = []
    pending.reserveCapacity(dictionaryBytes + Self.blockBytes)
    pending += block.bytes.suffix(dictionaryBytes)
  }

  /// Waits for the first block that is not stored yet, and stores it.
  private func storeFirst(_ put: (UnsafeRawBufferPointer) throws(CSVError) -> Void) throws(CSVError) {
    guard let deflated = results.removeFirst().receive() else {
      // A worker sends one result for each job, whatever the bytes are.
      preconditionFailure("every submitted block has a result")
    }
    try store(deflated, put)
  }

  private func store(
    _ deflated: DeflatedBlock, _ put: (UnsafeRawBufferPointer) throws(CSVError) -> Void
  ) throws(CSVError) {
    if !hasHeader {
      hasHeader = true
      try Self.put(Self.header, put)
    }
    deflated.block.bytes.withUnsafeBufferPointer { bytes in
      let content = UnsafeBufferPointer(rebasing: bytes[deflated.block.dictionaryBytes...])
      checksum = crc32_gzip_refl(checksum, content.baseAddress, UInt64(content.count))
      contentBytes += content.count
    }
    try Self.put(deflated.bytes, put)
  }

  /// DEFLATE, no time, no name, and 255 for an unknown system (RFC 1952, section 2.3.1).
  private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]

  private static func put(
    _ bytes: [UInt8], _ put: (UnsafeRawBufferPointer) throws(CSVError) -> Void
  ) throws(CSVError) {
    try bytes.withUnsafeBufferPointer { bytes throws(CSVError) in try put(UnsafeRawBufferPointer(bytes)) }
  }

  // MARK: Workers

  private func startWorker() {
    workerCount += 1
    let jobs = jobs
    Thread.begin("deflate \(workerCount)") {
      let deflater = BlockDeflater()
      while let job = jobs.receive() {
        _ = job.result.send(DeflatedBlock(block: job.block, bytes: deflater.deflated(job.block)))
      }
    }
  }
}
