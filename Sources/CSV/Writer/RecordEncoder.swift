/// Encodes values as the bytes of records. A separate struct, so that its state is accessed once per field.
struct RecordEncoder {
  /// Why a value cannot be written without quotes.
  enum Refusal: String {
    case delimiter = "holds a delimiter"
    case lineEnd = "holds a line end"
    case comment = "starts with the comment sign"
    case byteOrderMark = "starts with a byte order mark, which would be read as that of the file"
    case nullToken = "is the text that stands for no value"
    case onlyEmpty = "is empty and alone in its record, which would be a blank line"
  }

  /// The first `used` bytes are whole records not yet passed to the sink, and the current one; the rest is free
  /// capacity.
  private(set) var storage: [UInt8]
  private(set) var used = 0
  private(set) var fieldCount = 0

  private let delimiter: UInt8
  private let quote: UInt8?
  private let comment: UInt8?
  private let endsLinesWithCR: Bool
  private let writesTrailingDelimiter: Bool
  /// Empty if the dialect has none.
  private let nullToken: [UInt8]
  private var recordStart = 0
  private var isFirstRecord = true

  init(_ dialect: CSVDialect, capacity: Int) {
    delimiter = dialect.delimiter[0]
    quote = dialect.quote
    comment = dialect.comment?.first
    endsLinesWithCR = dialect.lineEnd == .crlf
    writesTrailingDelimiter = dialect.writesTrailingDelimiter
    nullToken = dialect.nullToken ?? []
    storage = [UInt8](repeating: 0, count: capacity)
  }

  /// Adds nothing if the result is a refusal.
  mutating func append(_ value: Span<UInt8>) -> Refusal? {
    // Twice the value for doubled quotes, two quotes around it and a delimiter before it.
    makeRoom(2 * value.count + 3)
    var start = used
    if fieldCount > 0 {
      storage[start] = delimiter
      start += 1
    }
    let isPlain = copyPlain(value, to: start)
    if isPlain && !isNullToken(value) && (fieldCount > 0 || !isMistakable(value)) {
      used = start + value.count
    } else if let quote {
      used = copyQuoted(value, to: start, quote)
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
    makeRoom(nullToken.count + 1)
    if fieldCount > 0 { put(delimiter) }
    for byte in nullToken { put(byte) }
    fieldCount += 1
  }

  mutating func endRecord() -> Refusal? {
    makeRoom(5)
    if fieldCount == 1 && used == recordStart && !writesTrailingDelimiter {
      guard let quote else { return .onlyEmpty }
      put(quote)
      put(quote)
    }
    if writesTrailingDelimiter { put(delimiter) }
    if endsLinesWithCR { put(ASCII.cr) }
    put(ASCII.lf)
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

  private mutating func makeRoom(_ count: Int) {
    if used + count > storage.count {
      storage.append(contentsOf: [UInt8](repeating: 0, count: max(count, storage.count)))
    }
  }

  private mutating func put(_ byte: UInt8) {
    storage[used] = byte
    used += 1
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
    precondition(start + count <= target.count, "room was made before")
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

  /// Writes the value in quotes and returns the end offset.
  private mutating func copyQuoted(_ value: Span<UInt8>, to start: Int, _ quote: UInt8) -> Int {
    var target = storage.mutableSpan
    var end = start
    target[end] = quote
    end += 1
    for index in value.indices {
      let byte = value[index]
      if byte == quote {
        target[end] = quote
        end += 1
      }
      target[end] = byte
      end += 1
    }
    target[end] = quote
    return end + 1
  }

  /// Whether a value would be read as no value.
  @inline(__always)
  private func isNullToken(_ value: Span<UInt8>) -> Bool {
    if value.count != nullToken.count || value.isEmpty { return false }
    return nullToken.indices.allSatisfy { value[$0] == nullToken[$0] }
  }

  /// Whether the first value of a record looks like a comment or a byte order mark.
  private func isMistakable(_ value: Span<UInt8>) -> Bool {
    if let comment, !value.isEmpty, value[0] == comment { return true }
    return isFirstRecord && startsWithByteOrderMark(value)
  }

  private func startsWithByteOrderMark(_ value: Span<UInt8>) -> Bool {
    let mark = ASCII.byteOrderMark
    return value.count >= mark.count && mark.indices.allSatisfy { value[$0] == mark[$0] }
  }

  private func refusal(_ value: Span<UInt8>) -> Refusal? {
    for index in value.indices {
      if value[index] == delimiter { return .delimiter }
      if value[index] == ASCII.lf || value[index] == ASCII.cr { return .lineEnd }
    }
    if isNullToken(value) { return .nullToken }
    guard fieldCount == 0 else { return nil }
    if let comment, value[0] == comment { return .comment }
    return isFirstRecord && startsWithByteOrderMark(value) ? .byteOrderMark : nil
  }
}
