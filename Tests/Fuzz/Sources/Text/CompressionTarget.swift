import CSV
import CZlib
import Foundation

@testable import CSV

/// Compressed bytes give the same text and the same error in pieces of any size; gzip gives what zlib gives; a changed
/// byte never gives another text without an error.
enum CompressionTarget: FuzzTarget {
  static let name = "compression"
  static let bytesMax = 2048
  private static let textBytesMax = 1 << 20

  /// `surf` and its number, a hundred times, as gzip, zstd, xz, bzip2 and zip wrote it.
  static let seeds: [[UInt8]] =
    CompressedSeeds.all.map { [0] + $0 } + [[1, 10, 3] + Array("a,b\n1,2\n".utf8), [1, 40, 128]]

  private struct Outcome: Equatable {
    var text: [UInt8] = []
    var failure: CSVError.Code?
  }

  static func run(_ input: inout FuzzInput) {
    if input.flag() { return runChanged(&input) }
    let bytes = input.rest
    let whole = read(bytes, size: 64 << 10, buffer: 64 << 10)
    for (size, buffer) in [(7, 2), (4096, 5)] {
      let found = read(bytes, size: size, buffer: buffer)
      requireEqual(found.failure, whole.failure, rule: "pieces of \(size) end in the same way")
      // ISA-L may have put some bytes of the damaged place into a large buffer.
      let count =
        whole.failure == nil ? max(found.text.count, whole.text.count) : min(found.text.count, whole.text.count)
      requireEqual(found.text.prefix(count), whole.text.prefix(count), rule: "pieces of \(size) give the same text")
    }
    // zlib also refuses the reserved flags of a header (RFC 1952, section 2.3.1.2).
    guard bytes.starts(with: [0x1F, 0x8B]), bytes.count > 3, bytes[3] & 0xE0 == 0, whole.text.count < textBytesMax,
      whole.failure != .format
    else { return }
    let zlib = PlainGzip.inflate(bytes, bytesMax: textBytesMax)
    if whole.failure == nil || zlib != nil {
      requireEqual(whole.failure == nil ? whole.text : nil, zlib, rule: "gzip gives what zlib gives")
    }
  }

  /// Compresses, changes one byte, and reads.
  private static func runChanged(_ input: inout FuzzInput) {
    let (place, change) = (Int(input.byte()) << 8 | Int(input.byte()), input.byte())
    let text = input.rest
    guard let sink = try? ByteSink.memory(compression: .gzip), (try? sink.write(text[...])) != nil,
      (try? sink.commit()) != nil
    else { broken("a text is compressed") }
    var bytes = sink.bytes
    let plain = read(bytes, size: 64 << 10, buffer: 64 << 10)
    if plain.failure == .format { return }
    requireEqual(plain, Outcome(text: text), rule: "what was compressed is read back")
    bytes[place % bytes.count] ^= change
    // Without its first two bytes it is a text.
    guard bytes.starts(with: [0x1F, 0x8B]) else { return }
    let found = read(bytes, size: 64 << 10, buffer: 64 << 10)
    if found.failure == nil { requireEqual(found.text, text, rule: "a changed byte gives an error") }
  }

  private static func read(_ bytes: [UInt8], size: Int, buffer: Int) -> Outcome {
    var outcome = Outcome()
    do throws(CSVError) {
      let source = ByteSource(try RawInput(.memory(bytes), name: "memory"), gzipBufferBytes: buffer)
      while outcome.text.count < textBytesMax, try source.read(appendingTo: &outcome.text, bytesMax: size) > 0 {}
      outcome.text = Array(outcome.text.prefix(textBytesMax))
    } catch {
      outcome.failure = error.code
    }
    return outcome
  }
}
