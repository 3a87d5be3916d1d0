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

  private let bytesMax: Int
  /// Whether reading has ended because too much text waits to be taken.
  package var isFull: Bool { kept.bytes.count > bytesMax }

  /// - Parameters:
  ///   - stored: A source that is still at its start, and that nothing else reads.
  ///   - bytesMax: How many bytes may wait to be taken.
  package init(of stored: ByteSource, bytesMax: Int) throws(CSVError) {
    self.bytesMax = bytesMax
    let generator = RawInput.Origin.generator { [kept] buffer throws(CSVError) in
      if kept.bytes.count > bytesMax {
        throw CSVError(
          .source,
          "no record ends within \(bytesMax) bytes; a quote that is never closed is a common cause. Correct it, or raise "
            + "limits.recordBytesMax", path: stored.name, line: kept.offset == 0 ? 1 : nil)
      }
      return try stored.read(into: buffer)
    }
    source = ByteSource(try RawInput(generator, name: stored.name))
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
