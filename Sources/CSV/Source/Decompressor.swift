/// The decompressed bytes of an input. Use it from one thread at a time.
protocol Decompressor: AnyObject {
  /// Position in the stored input of the first unused byte.
  var consumedBytes: Int { get }

  /// Fills as much of `output` as the data allows; 0 is the regular end.
  /// - Throws: `CSVError` only if no bytes precede the error in this call; otherwise the next call throws.
  func read(into output: UnsafeMutableRawBufferPointer) throws(CSVError) -> Int
}
