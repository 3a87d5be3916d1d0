#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Converts any encoding that the C library's iconv knows to UTF-8, and knows the position in the input of every line
/// end.
///
/// iconv is kept for the rare encodings because it is part of the C library, so nothing has to be installed, and its
/// tables are complete. It does not say which input byte a byte of the output comes from. So it gets one line at a
/// time, and the positions after each are kept; records begin there, also after a line end within quotes.
final class IconvDecoder {
  /// Corresponding offsets in the text and in the input.
  struct Mark {
    let text: Int
    let input: Int
  }

  /// The marks that were not passed yet, in order, preceded by `firstMark` others.
  private var marks: [Mark] = []
  private var firstMark = 0
  private let descriptor: iconv_t
  /// Whether a piece of input ends with the byte.
  private let endsPiece: [Bool]
  private var isFlushed = false

  /// - Parameters:
  ///   - name: what iconv calls the encoding.
  ///   - lineEnds: the last bytes of what ends a record.
  init?(_ name: String, lineEnds: [UInt8]) {
    guard let descriptor = Iconv.open(to: "UTF-8", from: name) else { return nil }
    self.descriptor = descriptor
    endsPiece = Self.table(lineEnds.map { Self.byte($0, in: name) })
  }

  deinit { iconv_close(descriptor) }

  /// If a line end has no single byte in the encoding, every byte ends a piece.
  private static func table(_ bytes: [UInt8?]) -> [Bool] {
    let known = bytes.compactMap { $0 }
    var table = [Bool](repeating: known.count < bytes.count, count: 256)
    for byte in known { table[Int(byte)] = true }
    return table
  }

  /// The byte that an ASCII character has in the encoding; nil if it has several, or none.
  private static func byte(_ character: UInt8, in name: String) -> UInt8? {
    guard let descriptor = Iconv.open(to: name, from: "UTF-8") else { return nil }
    defer { iconv_close(descriptor) }
    var (source, target) = ([CChar(bitPattern: character)], [CChar](repeating: 0, count: 16))
    let written = source.withUnsafeMutableBufferPointer { source in
      target.withUnsafeMutableBufferPointer { target in
        var (next, left, output, capacity) = (source.baseAddress, source.count, target.baseAddress, target.count)
        return iconv(descriptor, &next, &left, &output, &capacity) == Iconv.failed ? 0 : target.count - capacity
      }
    }
    return written == 1 ? UInt8(bitPattern: target[0]) : nil
  }

  /// Converts as much as there is room for.
  /// - Parameters:
  ///   - base: the offsets of the first bytes of `source` and of `target`.
  ///   - isFinal: whether no bytes follow.
  ///   - endsLine: whether `source` ends where a line is known to end, so that half a character there is none.
  func decode(
    _ source: UnsafeBufferPointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, capacity: Int, base: Mark,
    isFinal: Bool,
    endsLine: Bool = false
  ) -> ConversionStep {
    var step = ConversionStep()
    // The end of the piece that is being converted; a piece grows if its last character is not complete.
    var pieceEnd = 0
    var isComplete = true
    while step.read < source.count, step.written + UnicodeDecoding.characterBytesMax <= capacity {
      if pieceEnd <= step.read || !isComplete { pieceEnd = end(ofPieceFrom: max(pieceEnd, step.read), source) }
      let piece = UnsafeBufferPointer(rebasing: source[step.read..<pieceEnd])
      let result =
        isComplete
        ? convert(piece, to: target, capacity: capacity, &step)
        : convertCharacter(piece, to: target, capacity: capacity, &step)
      isComplete = true
      switch result {
      case nil: pieceEnd = step.read
      case 0: marks.append(Mark(text: base.text + step.written, input: base.input + step.read))
      case EINVAL where pieceEnd < source.count: isComplete = false
      case EINVAL where !isFinal && !endsLine: return step
      case E2BIG: return step
      default:
        // EILSEQ, or half a character at the end.
        target[step.written] = UnicodeDecoding.invalid
        step.written += 1
        step.read += 1
        // The piece may have grown beyond line ends that turn out not to be within a character.
        pieceEnd = step.read
      }
    }
    if isFinal, step.read == source.count, !isFlushed, step.written + 16 <= capacity {
      isFlushed = true
      var (output, left) = (pointer(target + step.written), capacity - step.written)
      iconv(descriptor, nil, nil, &output, &left)
      step.written = capacity - left
      marks.append(Mark(text: base.text + step.written, input: base.input + step.read))
    }
    return step
  }

  /// Converts only the first character of a piece that has grown: the line end in the middle of the piece may turn out
  /// to follow that character, and then needs a mark. Returns iconv's error number, 0 at the end of the piece, or nil
  /// before it.
  private func convertCharacter(
    _ piece: UnsafeBufferPointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, capacity: Int,
    _ step: inout ConversionStep
  ) -> Int32? {
    let start = step.read
    for room in step.written + 1...capacity {
      let result = convert(piece, to: target, capacity: room, &step)
      if step.read > start { return result == 0 ? 0 : nil }
      if result != E2BIG { return result }
    }
    return E2BIG
  }

  private func end(ofPieceFrom start: Int, _ source: UnsafeBufferPointer<UInt8>) -> Int {
    source[start...].firstIndex { endsPiece[Int($0)] }.map { $0 + 1 } ?? source.count
  }

  /// Returns iconv's error number, or 0.
  private func convert(
    _ piece: UnsafeBufferPointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, capacity: Int,
    _ step: inout ConversionStep
  ) -> Int32 {
    // iconv does not write to its input; only its C signature lacks the const.
    var next = pointer(UnsafeMutablePointer(mutating: piece.baseAddress))
    var (left, output, free) = (piece.count, pointer(target + step.written), capacity - step.written)
    let result = iconv(descriptor, &next, &left, &output, &free)
    let failure = result == Iconv.failed ? errno : 0
    step.read += piece.count - left
    step.written = capacity - free
    return failure
  }

  private func pointer(_ bytes: UnsafeMutablePointer<UInt8>?) -> UnsafeMutablePointer<CChar>? {
    bytes.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: CChar.self) }
  }

  /// The last mark at or before an offset of the text; marks before it are forgotten.
  func pass(toText offset: Int) -> Mark? {
    var found: Mark?
    while firstMark < marks.count, marks[firstMark].text <= offset {
      found = marks[firstMark]
      firstMark += 1
    }
    if firstMark > 4096 {
      marks.removeFirst(firstMark)
      firstMark = 0
    }
    return found
  }

  /// The last mark at or before an offset of the input that was not passed; nil if there is none.
  func mark(atInput offset: Int) -> Mark? {
    marks[firstMark...].last { $0.input <= offset }
  }
}
