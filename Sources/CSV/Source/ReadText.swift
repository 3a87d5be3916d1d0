/// The text of a source as its reader gets it, decompressed: who reads records can also have the text between positions.
package final class ReadText {
  /// What is read instead of the source.
  package let source: ByteSource
  private let kept = Kept()

  private final class Kept {
    var bytes: [UInt8] = []
    /// Where `bytes` begins in the text.
    var offset = 0
  }

  /// - Parameter stored: A source that is still at its start, and that nothing else reads.
  package init(of stored: ByteSource) throws(CSVError) {
    source = ByteSource(
      try RawInput(.generator { buffer throws(CSVError) in try stored.read(into: buffer) }, name: stored.name))
    source.rawBytesObserver = { [kept] more in more.withUnsafeBytes { kept.bytes += $0 } }
  }

  /// The text up to a position of the reader, from where the last call ended; it is not kept any longer.
  package func take(upTo end: Int) -> [UInt8] {
    let taken = Array(kept.bytes[..<(end - kept.offset)])
    kept.bytes.removeFirst(taken.count)
    kept.offset = end
    return taken
  }
}
