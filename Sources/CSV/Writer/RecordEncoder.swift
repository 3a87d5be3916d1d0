/// Encodes values as the bytes of records. A separate struct, so that its state is accessed once per field.
struct RecordEncoder {
  /// Why a value cannot be written without quotes.
  enum Refusal: String {
    case delimiter = "holds a delimiter"
    case lineEnd = "holds a line end"
    case comment = "starts with the comment sign"
    case byteOrderMark = "starts with a byte order mark, which would be read as that of the file"
    case quote = "holds a quote, which the dialect neither doubles nor escapes"
    case initialSpace = "begins with a space, which would be skipped"
    case nullToken = "is the text that stands for no value"
    case onlyEmpty = "is empty and alone in its record, which would be a blank line"
  }

  /// The first `used` bytes are whole records not yet passed to the sink, and the current one; the rest is free
  /// capacity.
  private(set) var storage: [UInt8]
  private(set) var used = 0
  private(set) var fieldCount = 0

  /// The first byte of the delimiter. A value that holds it needs quotes, for with what follows it could become one.
  private let delimiter: UInt8
  private let delimiterBytes: [UInt8]
  /// Whether the delimiter has more than one byte.
  private let hasLongDelimiter: Bool
  private let quote: UInt8?
  private let doublesQuotes: Bool
  private let escape: UInt8?
  /// Empty if the dialect has none.
  private let comment: [UInt8]
  private let lineEnd: [UInt8]
  /// The first byte of a line terminator other than LF and CR.
  private let otherLineEnd: UInt8?
  /// Whether the dialect gives a meaning to more bytes than the delimiter, the quote and line feeds.
  private let hasOtherSpecial: Bool
  private let skipsInitialSpace: Bool
  private let writesTrailingDelimiter: Bool
  private let nullTokens: [[UInt8]]
  private var recordStart = 0
  private var isFirstRecord = true

  init(_ dialect: CSVDialect, capacity: Int) {
    delimiter = dialect.delimiter[0]
    delimiterBytes = dialect.delimiter
    hasLongDelimiter = dialect.delimiter.count > 1
    quote = dialect.quote
    doublesQuotes = dialect.doublesQuotes
    escape = dialect.escape
    comment = dialect.comment ?? []
    lineEnd = dialect.lineTerminator ?? (dialect.lineEnd == .crlf ? [ASCII.cr, ASCII.lf] : [ASCII.lf])
    otherLineEnd = dialect.lineTerminator?.first
    hasOtherSpecial = dialect.escape != nil || dialect.lineTerminator != nil
    skipsInitialSpace = dialect.skipsInitialSpace
    writesTrailingDelimiter = dialect.writesTrailingDelimiter
    nullTokens = dialect.nullTokens
    storage = [UInt8](repeating: 0, count: capacity)
  }

  /// Puts a byte order mark before the first record.
  mutating func putByteOrderMark() {
    for byte in ASCII.byteOrderMark { put(byte) }
    recordStart = used
  }

  /// Adds nothing if the result is a refusal.
  mutating func append(_ value: Span<UInt8>) -> Refusal? {
    // Twice the value for doubled quotes or escapes, two quotes around it and a delimiter before it.
    reserveCapacity(2 * value.count + 2 + delimiterBytes.count)
    var start = used
    if fieldCount > 0 {
      storage[start] = delimiter
      start += 1
      if hasLongDelimiter {
        for byte in delimiterBytes.dropFirst() {
          storage[start] = byte
          start += 1
        }
      }
    }
    let isPlain = copyPlain(value, to: start) && !holdsOtherSpecial(value)
    if isPlain && !isNullToken(value) && (fieldCount > 0 || !isMistakable(value)) {
      used = start + value.count
    } else if let quote {
      if !doublesQuotes, escape == nil, holds(quote, value) { return .quote }
      used = copyQuoted(value, to: start, quote)
    } else if let escape {
      used = copyEscaped(value, to: start, escape)
    } else {
      if let refusal = refusal(value) { return refusal }
      // The value only begins or ends with a space, which needs no quotes in a dialect without quotes.
      used = start + value.count
    }
    fieldCount += 1
    return nil
  }

  /// Adds a field without a value: the dialect's null token, or nothing.
  mutating func appendNull() {
    let token = nullTokens.first ?? []
    reserveCapacity(token.count + delimiterBytes.count)
    if fieldCount > 0 { putDelimiter() }
    for byte in token { put(byte) }
    fieldCount += 1
  }

  mutating func endRecord() -> Refusal? {
    reserveCapacity(2 + delimiterBytes.count + lineEnd.count)
    if fieldCount == 1 && used == recordStart && !writesTrailingDelimiter {
      guard let quote else { return .onlyEmpty }
      put(quote)
      put(quote)
    }
    if writesTrailingDelimiter { putDelimiter() }
    for byte in lineEnd { put(byte) }
    recordStart = used
    fieldCount = 0
    isFirstRecord = false
    return nil
  }

  mutating func abandonRecord() {
    used = recordStart
    fieldCount = 0
  }

  /// Removes the bytes after they were passed to the sink.
  mutating func removeAll() {
    used = 0
    recordStart = 0
  }

  private mutating func reserveCapacity(_ count: Int) {
    if used + count > storage.count {
      storage.append(contentsOf: [UInt8](repeating: 0, count: max(count, storage.count)))
    }
  }

  private mutating func put(_ byte: UInt8) {
    storage[used] = byte
    used += 1
  }

  private mutating func putDelimiter() {
    for byte in delimiterBytes { put(byte) }
  }

  /// Copies the value unchanged; false if the value needs quotes.
  @inline(__always)
  private mutating func copyPlain(_ value: Span<UInt8>, to start: Int) -> Bool {
    let count = value.count
    if count == 0 { return true }
    // Local copies: the target is borrowed from `self` while these are read.
    let delimiter = delimiter
    let quote = quote ?? delimiter
    var special: UInt8 = value[0] == ASCII.space || value[count - 1] == ASCII.space ? 1 : 0
    var target = storage.mutableSpan
    // The callers have reserved it for the whole value. The check keeps the loop within bounds.
    precondition(start + count <= target.count, "capacity is reserved before")
    for index in 0..<count {
      // Within both spans: `index` is below `count`, and the precondition above covers the target.
      let byte = value[unchecked: index]
      target[unchecked: start &+ index] = byte
      // Bitwise sums instead of `||` avoid a branch per byte.
      special |= (byte == delimiter ? 1 : 0) | (byte == quote ? 1 : 0)
      special |= (byte == ASCII.lf ? 1 : 0) | (byte == ASCII.cr ? 1 : 0)
    }
    return special == 0
  }

  /// Whether the value holds what only some dialects give a meaning.
  @inline(__always)
  private func holdsOtherSpecial(_ value: Span<UInt8>) -> Bool {
    if !hasOtherSpecial { return false }
    return value.indices.contains { value[$0] == escape || value[$0] == otherLineEnd }
  }

  /// Writes the value in quotes and returns the end offset.
  private mutating func copyQuoted(_ value: Span<UInt8>, to start: Int, _ quote: UInt8) -> Int {
    let quoteSign = doublesQuotes ? quote : escape ?? quote
    let escape = escape ?? quote
    var target = storage.mutableSpan
    var end = start
    target[end] = quote
    end += 1
    for index in value.indices {
      let byte = value[index]
      if byte == quote || byte == escape {
        target[end] = byte == quote ? quoteSign : byte
        end += 1
      }
      target[end] = byte
      end += 1
    }
    target[end] = quote
    return end + 1
  }

  /// Writes the value with the escape character before every byte that would be read as something else, and returns
  /// the end offset.
  private mutating func copyEscaped(_ value: Span<UInt8>, to start: Int, _ escape: UInt8) -> Int {
    let special = [delimiter, escape, ASCII.lf, ASCII.cr, otherLineEnd ?? escape]
    let isMistakable =
      isNullToken(value) || (fieldCount == 0 && self.isMistakable(value))
      || (skipsInitialSpace && !value.isEmpty && value[0] == ASCII.space)
    var target = storage.mutableSpan
    var end = start
    for index in value.indices {
      let byte = value[index]
      if special.contains(byte) || (index == 0 && isMistakable) {
        target[end] = escape
        end += 1
      }
      target[end] = byte
      end += 1
    }
    return end
  }

  /// Whether a value would be read as no value.
  @inline(__always)
  private func isNullToken(_ value: Span<UInt8>) -> Bool {
    if nullTokens.isEmpty || value.isEmpty { return false }
    return nullTokens.contains { $0.count == value.count && starts(value, with: $0) }
  }

  /// Whether the first value of a record looks like a comment or a byte order mark.
  private func isMistakable(_ value: Span<UInt8>) -> Bool {
    if !comment.isEmpty, starts(value, with: comment) { return true }
    return isFirstRecord && starts(value, with: ASCII.byteOrderMark)
  }

  private func starts(_ value: Span<UInt8>, with bytes: [UInt8]) -> Bool {
    value.count >= bytes.count && bytes.indices.allSatisfy { value[$0] == bytes[$0] }
  }

  private func holds(_ byte: UInt8, _ value: Span<UInt8>) -> Bool { value.indices.contains { value[$0] == byte } }

  private func refusal(_ value: Span<UInt8>) -> Refusal? {
    for index in value.indices {
      // A part of a delimiter at the end of the value could become one with what follows.
      if value[index] == delimiter { return .delimiter }
      if value[index] == ASCII.lf || value[index] == ASCII.cr || value[index] == otherLineEnd { return .lineEnd }
    }
    if isNullToken(value) { return .nullToken }
    if skipsInitialSpace, value[0] == ASCII.space { return .initialSpace }
    guard fieldCount == 0 else { return nil }
    if !comment.isEmpty, starts(value, with: comment) { return .comment }
    return isFirstRecord && starts(value, with: ASCII.byteOrderMark) ? .byteOrderMark : nil
  }
}
