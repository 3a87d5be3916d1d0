import Foundation

extension CSVDialect {
  /// How long a delimiter, a line terminator or a comment sign may be.
  static let tokenBytesMax = 16

  /// Checks that the dialect's bytes are distinct and allowed.
  /// - Throws: `CSVError` with the code `dialect-error` that names the contradiction.
  public func validate() throws(CSVError) {
    try checkDelimiter()
    if let quote { try check(quote, "quote") }
    if let escape { try check(escape, "escape character") }
    try checkLineTerminator()
    try checkComment()
    try checkDistinct()
    if skipsInitialSpace, delimiter.first == ASCII.space {
      throw CSVError(.dialect, "the delimiter begins with a space, so initial spaces cannot be skipped; choose one")
    }
    if let columns, columns.isEmpty {
      throw CSVError(.dialect, "the list of columns is empty; name them or leave it out")
    }
    try checkRows()
    for token in nullTokens {
      guard let fault = fault(ofNullToken: token) else { continue }
      throw CSVError(.dialect, "the text for no value \(fault); use one such as \\N")
    }
  }

  /// Why these bytes, unquoted, would not be read back as a field with this content; nil if they would be.
  public func fault(ofNullToken token: [UInt8]) -> String? {
    if token.isEmpty { return "is empty, as the empty text is" }
    if token.first == ASCII.space || token.last == ASCII.space { return "begins or ends with a space" }
    if let comment, token.starts(with: comment) { return "begins with the comment sign" }
    if token.starts(with: ASCII.byteOrderMark) { return "begins with a byte order mark" }
    // The first byte alone suffices: a part of a delimiter next to a delimiter could be read as one.
    let special = [delimiter.first ?? 0, quote ?? 0, lineTerminator?.first ?? 0, ASCII.lf, ASCII.cr, 0]
    return token.contains { special.contains($0) } ? "holds a delimiter, a quote, a line end or a zero byte" : nil
  }

  private func checkDelimiter() throws(CSVError) {
    if delimiter.count == 1 { return try check(delimiter[0], "delimiter") }
    try checkToken(delimiter, "delimiter")
    if delimiter.contains(where: { $0 == ASCII.lf || $0 == ASCII.cr }) {
      throw CSVError(.dialect, "the delimiter holds a line end; use other characters")
    }
    if let quote, delimiter.contains(quote) {
      throw CSVError(.dialect, "the delimiter holds the quote; use other characters")
    }
    if let escape, delimiter.contains(escape) {
      throw CSVError(.dialect, "the delimiter holds the escape character; use other characters")
    }
  }

  private func checkLineTerminator() throws(CSVError) {
    guard let lineTerminator else { return }
    try checkToken(lineTerminator, "line terminator")
    if lineTerminator.contains(where: { $0 >= 0x80 }) {
      throw CSVError(.dialect, "the line terminator holds a byte outside ASCII; use ASCII characters")
    }
    if let quote, lineTerminator.contains(quote) {
      throw CSVError(.dialect, "the line terminator holds the quote; use other characters")
    }
    if let escape, lineTerminator.contains(escape) {
      throw CSVError(.dialect, "the line terminator holds the escape character; use other characters")
    }
    if delimiter.starts(with: lineTerminator) {
      throw CSVError(.dialect, "the delimiter begins with the line terminator; use other characters")
    }
  }

  private func checkComment() throws(CSVError) {
    guard let comment else { return }
    if comment.count == 1 { try check(comment[0], "comment sign") } else { try checkToken(comment, "comment sign") }
    if let first = delimiter.first, comment.contains(first) {
      throw CSVError(
        .dialect,
        comment.count == 1 && delimiter.count == 1
          ? "delimiter and comment sign are the same byte; use two" : "the comment sign holds a delimiter; use another")
    }
    if let quote, comment.contains(quote) {
      throw CSVError(
        .dialect,
        comment.count == 1
          ? "quote and comment sign are the same byte; use two" : "the comment sign holds the quote; use another")
    }
    if comment.contains(where: { $0 == ASCII.lf || $0 == ASCII.cr || $0 == lineTerminator?.first }) {
      throw CSVError(.dialect, "the comment sign holds a line end; use another")
    }
    if let escape, comment.contains(escape) {
      throw CSVError(.dialect, "the comment sign holds the escape character; use another")
    }
  }

  private func checkDistinct() throws(CSVError) {
    if let quote, delimiter == [quote] {
      throw CSVError(.dialect, "delimiter and quote are the same byte; use two")
    }
    if let escape, delimiter == [escape] {
      throw CSVError(.dialect, "delimiter and escape character are the same byte; use two")
    }
    if let escape, escape == quote {
      throw CSVError(
        .dialect, "quote and escape character are the same byte; leave the escape out, for two quotes stand for one")
    }
    if skipsInitialSpace, quote == ASCII.space || escape == ASCII.space {
      throw CSVError(.dialect, "a space is the quote or the escape character, so initial spaces cannot be skipped")
    }
  }

  private func checkRows() throws(CSVError) {
    let counts = [
      (skippedRows, 1_000_000, "the number of skipped rows"), (headerRows, 100, "the number of header rows"),
      (droppedLastRows, 10_000, "the number of dropped last rows"),
    ]
    for (count, most, name) in counts where !(0...most).contains(count) {
      throw CSVError(.dialect, "\(name) is \(count); it must be from 0 to \(most)")
    }
    if let stopAt { _ = try Self.footerExpression(stopAt) }
  }

  /// The expression that finds `stopAt` at the start of a text.
  static func footerExpression(_ pattern: String) throws(CSVError) -> NSRegularExpression {
    if pattern.isEmpty { throw CSVError(.dialect, "the pattern of the footer is empty; name its first words") }
    // Two attempts: in the first the pattern stands alone, so that it cannot close the group of the second.
    guard (try? NSRegularExpression(pattern: pattern)) != nil,
      let expression = try? NSRegularExpression(pattern: "\\A(?:\(pattern))")
    else {
      throw CSVError(.dialect, "the pattern of the footer, '\(pattern)', is not a regular expression; correct it")
    }
    return expression
  }

  private func checkToken(_ bytes: [UInt8], _ role: String) throws(CSVError) {
    guard (1...Self.tokenBytesMax).contains(bytes.count) else {
      throw CSVError(
        .dialect, "the \(role) has \(bytes.count) bytes; it must have from 1 to \(Self.tokenBytesMax)")
    }
    if bytes.contains(0) { throw CSVError(.dialect, "the \(role) holds a zero byte; use other characters") }
    if String(validating: bytes, as: UTF8.self) == nil {
      throw CSVError(.dialect, "the \(role) is not UTF-8; use whole characters")
    }
  }

  private func check(_ byte: UInt8, _ role: String) throws(CSVError) {
    if byte == 0 || byte == 0x0A || byte == 0x0D || byte >= 0x80 {
      throw CSVError(.dialect, "byte \(byte) cannot be the \(role); use an ASCII character other than a line end")
    }
    if let lineTerminator, lineTerminator.first == byte {
      throw CSVError(.dialect, "the line terminator begins with the \(role); use other characters")
    }
  }
}
