/// Converts an input to UTF-8, piece by piece, and keeps the bytes of the text that was not passed yet.
///
/// Positions and hashes are those of the input, not of the converted text, so that checkpoints and the messages of
/// every encoding mean the same bytes. The reader of the text says how much of it is passed; `offset` follows.
final class TextDecoder {
  let encoding: CSVEncoding
  /// Offset in the input of the first byte whose text was not passed. With iconv it is exact after every line end.
  private(set) var offset: Int
  /// The bytes from `offset` on that were read; those before `decodedEnd` are converted.
  private var bytes: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  private var start = 0
  /// How far the passed bytes are hashed.
  private var hashedEnd = 0
  private var decodedEnd: Int
  private var end: Int
  private var inputEnded = false
  /// The error with which the input ended before the conversion began.
  private let failure: CSVError?
  /// Lengths of the converted text, all of it and what was passed.
  private var textCount = 0
  private var passedCount = 0
  private let readBytes: Int
  private let iconv: IconvDecoder?

  /// - Parameters:
  ///   - encoding: not UTF-8, and not one that needs a byte order mark to be decided.
  ///   - head: bytes that were already read; the first has the offset `offset`.
  ///   - lineEnds: the last bytes of what ends a record.
  ///   - readBytes: how many bytes to read at a time.
  ///   - failure: the error that follows the bytes already read; it is thrown once they are converted.
  /// - Throws: `encoding-error` if the C library does not know the encoding any more.
  init(
    _ encoding: CSVEncoding, head: UnsafeBufferPointer<UInt8>, offset: Int, lineEnds: [UInt8], readBytes: Int,
    failure: CSVError?
  ) throws(CSVError) {
    if encoding.form == .iconv {
      guard let decoder = IconvDecoder(encoding.name, lineEnds: lineEnds) else {
        throw CSVError(
          .encoding,
          "the C library cannot convert \(encoding.name); install its converters (gconv), or convert the file")
      }
      iconv = decoder
    } else {
      iconv = nil
    }
    self.encoding = encoding
    self.offset = offset
    self.readBytes = readBytes
    self.failure = failure
    capacity = max(2 * readBytes, head.count)
    bytes = .allocate(capacity: capacity)
    if let source = head.baseAddress { bytes.update(from: source, count: head.count) }
    decodedEnd = 0
    end = head.count
  }

  deinit { bytes.deallocate() }

  /// Fills as much of the target as one reading gives, at least one byte; 0 is the end.
  /// - Parameter capacity: at least 64.
  /// - Throws: as `ByteSource.read`, once all that was read before is converted.
  func read(
    into target: UnsafeMutablePointer<UInt8>, capacity: Int, from source: ByteSource
  ) throws(CSVError) -> Int {
    while true {
      let step = convert(to: target, capacity: capacity)
      decodedEnd += step.read
      textCount += step.written
      if step.written > 0 { return step.written }
      if step.read > 0 { continue }
      if inputEnded { return 0 }
      try readMore(from: source)
    }
  }

  /// The next bytes of the text were consumed. Their hash follows with `updateHash`, before more is read.
  func pass(_ text: UnsafeRawBufferPointer) {
    passedCount += text.count
    var count: Int
    if let iconv {
      count = iconv.pass(toText: passedCount).map { $0.input - offset } ?? 0
    } else {
      // Half a character at the end of the input was counted as a whole one.
      count = min(EncodedLength.of(text, in: encoding), decodedEnd - start)
    }
    start += count
    offset += count
  }

  /// Hashes what was passed since the last call: many records at once, which is faster than one by one.
  func updateHash(_ hash: ContentHash?) {
    hash?.update(UnsafeRawBufferPointer(start: bytes + hashedEnd, count: start - hashedEnd))
    hashedEnd = start
  }

  /// The text was consumed to its end: what is left of the input has no text.
  func passRest(_ hash: ContentHash?) {
    guard inputEnded, decodedEnd == end else { return }
    offset += end - start
    start = end
    updateHash(hash)
  }

  /// Advances to an offset in the input that starts a record.
  /// - Returns: how many bytes of the text that was converted lie before it; nil if all of it does, or has to be
  ///   converted again.
  /// - Throws: as `ByteSource.skip`.
  func skip(to target: Int, from source: ByteSource) throws(CSVError) -> Int? {
    if let iconv {
      if target <= offset + decodedEnd - start, let mark = iconv.mark(atInput: target) ?? firstMark {
        return mark.text - passedCount
      }
      // What precedes may have switched the encoding's state, so it has to be converted.
      try convertAndDrop(upTo: target, iconv, source)
      return nil
    }
    let ahead = target - offset
    if ahead <= end - start {
      start += ahead
    } else {
      try source.skip(ahead - (end - start))
      start = 0
      end = 0
    }
    decodedEnd = start
    hashedEnd = start
    offset = target
    passedCount = textCount
    return nil
  }

  private var firstMark: IconvDecoder.Mark? { IconvDecoder.Mark(text: passedCount, input: offset) }

  private func convertAndDrop(upTo target: Int, _ iconv: IconvDecoder, _ source: ByteSource) throws(CSVError) {
    let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: readBytes + 64)
    defer { scratch.deallocate() }
    while offset + decodedEnd - start < target {
      let left = target - offset - (decodedEnd - start)
      let count = min(end - decodedEnd, left)
      let piece = UnsafeBufferPointer(start: bytes + decodedEnd, count: count)
      let step = iconv.decode(
        piece, to: scratch, capacity: readBytes + 64, base: base, isFinal: false, endsLine: count == left)
      decodedEnd += step.read
      textCount += step.written
      if step.read > 0 { continue }
      if inputEnded || count == left {
        throw CSVError(
          .source, "has no record at byte \(target), from which to continue; the file has changed",
          path: source.name, byte: offset + decodedEnd - start)
      }
      try readMore(from: source)
    }
    passedCount = textCount
    _ = iconv.pass(toText: passedCount)
    start = decodedEnd
    hashedEnd = start
    offset = target
  }

  /// The offsets at which the next conversion begins.
  private var base: IconvDecoder.Mark { IconvDecoder.Mark(text: textCount, input: offset + decodedEnd - start) }

  private func convert(to target: UnsafeMutablePointer<UInt8>, capacity: Int) -> ConversionStep {
    let source = UnsafeBufferPointer(start: bytes + decodedEnd, count: end - decodedEnd)
    switch encoding.form {
    case .latin1: return UnicodeDecoding.decodeSingleBytes(source, to: target, capacity: capacity, upper: nil)
    case .windows1252:
      return UnicodeDecoding.decodeSingleBytes(
        source, to: target, capacity: capacity, upper: CSVEncoding.windows1252Upper)
    case .utf16(let isBigEndian):
      return UnicodeDecoding.decodeUTF16(
        source, to: target, capacity: capacity, isBigEndian: isBigEndian ?? false, isFinal: inputEnded)
    case .utf32(let isBigEndian):
      return UnicodeDecoding.decodeUTF32(
        source, to: target, capacity: capacity, isBigEndian: isBigEndian ?? false, isFinal: inputEnded)
    case .utf8, .iconv:
      return iconv?.decode(source, to: target, capacity: capacity, base: base, isFinal: inputEnded) ?? ConversionStep()
    }
  }

  /// Reads behind the bytes that are kept, and makes room for that.
  private func readMore(from source: ByteSource) throws(CSVError) {
    if let failure { throw failure }
    if start > 0 {
      bytes.update(from: bytes + start, count: end - start)
      decodedEnd -= start
      end -= start
      hashedEnd -= start
      start = 0
    }
    if capacity - end < readBytes {
      capacity = max(2 * capacity, end + readBytes)
      let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
      larger.update(from: bytes, count: end)
      bytes.deallocate()
      bytes = larger
    }
    let count = try source.read(into: UnsafeMutableRawBufferPointer(start: bytes + end, count: readBytes))
    end += count
    inputEnded = count == 0
  }
}
