/// A text of the sources that a person may see: a string literal with those that are joined to it by `+`.
struct Message: Sendable {
  let path: String
  let line: Int
  /// With `…` in place of each interpolated value.
  let text: String
  /// The function that it is an argument of; empty for none.
  let call: String
}

/// Finds the messages of a Swift file.
///
/// It knows comments, string literals of one and several lines, raw ones, and the code in interpolations. Texts of several
/// lines are no messages: they are help, SQL or pages.
struct MessageScan {
  private let bytes: [UInt8]
  private let path: String
  private var position = 0
  private var line = 1
  /// The names of the calls whose parentheses are open.
  private var calls: [String] = []
  /// The code since the last literal.
  private var code: [UInt8] = []
  private var pending: Message?
  private(set) var messages: [Message] = []

  /// Several rules ask for those of each file.
  private static let known = Dictionary(
    Repository.files.filter { $0.isSwift && $0.lies(in: "Sources") }.map { ($0.path, scanned($0)) },
    uniquingKeysWith: { first, _ in first })

  static func messages(of file: SourceFile) -> [Message] { known[file.path] ?? scanned(file) }

  private static func scanned(_ file: SourceFile) -> [Message] {
    var scan = MessageScan(file)
    scan.readCode(inInterpolation: false)
    scan.finish()
    return scan.messages.filter(\.isProse)
  }

  private init(_ file: SourceFile) {
    path = file.path
    bytes = Array(file.lines.joined(separator: "\n").utf8)
  }

  private func begins(_ text: StaticString) -> Bool {
    guard bytes[position] == text.utf8Start.pointee, position + text.utf8CodeUnitCount <= bytes.count else {
      return false
    }
    return (0..<text.utf8CodeUnitCount).allSatisfy { bytes[position + $0] == text.utf8Start[$0] }
  }

  private mutating func step(_ count: Int = 1) {
    for _ in 0..<count where position < bytes.count {
      if bytes[position] == UInt8(ascii: "\n") { line += 1 }
      position += 1
    }
  }

  private mutating func readCode(inInterpolation: Bool) {
    var depth = 0
    while position < bytes.count {
      if begins("//") {
        while position < bytes.count, !begins("\n") { step() }
      } else if begins("/*") {
        while position < bytes.count, !begins("*/") { step() }
        step(2)
      } else if let signs = literalSigns {
        readLiteral(signs: signs, isNested: inInterpolation)
      } else {
        let byte = bytes[position]
        if byte == UInt8(ascii: "(") { depth += 1 }
        if byte == UInt8(ascii: ")") { depth -= 1 }
        if inInterpolation, depth < 0 { return }
        if !inInterpolation { note(byte) }
        step()
      }
    }
  }

  private mutating func note(_ byte: UInt8) {
    if byte == UInt8(ascii: "(") {
      let name = code.reversed().prefix { Self.isOfName($0) }.reversed()
      calls.append(String(decoding: name, as: UTF8.self))
    }
    if byte == UInt8(ascii: ")") { _ = calls.popLast() }
    code.append(byte)
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    let scalar = Unicode.Scalar(byte)
    return scalar.properties.isAlphabetic || scalar == "_"
  }

  /// The number signs before a literal that begins here; nil if none does.
  private var literalSigns: Int? {
    var end = position
    guard bytes[end] == UInt8(ascii: "#") || bytes[end] == UInt8(ascii: "\"") else { return nil }
    while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
    return end < bytes.count && bytes[end] == UInt8(ascii: "\"") ? end - position : nil
  }

  private mutating func readLiteral(signs: Int, isNested: Bool) {
    let (start, call) = (line, calls.last ?? "")
    step(signs)
    let isLong = begins("\"\"\"")
    step(isLong ? 3 : 1)
    var text: [UInt8] = []
    while position < bytes.count, !ends(signs: signs, isLong: isLong) {
      if begins("\\"), bytes[(position + 1)...].prefix(signs).allSatisfy({ $0 == UInt8(ascii: "#") }) {
        step(1 + signs)
        if begins("(") {
          step()
          readCode(inInterpolation: true)
          text += Array("…".utf8)
        } else {
          text.append(begins("n") ? UInt8(ascii: " ") : bytes[position])
        }
      } else {
        text.append(bytes[position])
      }
      step()
    }
    step((isLong ? 3 : 1) + signs)
    if isNested || isLong { return }
    add(String(decoding: text, as: UTF8.self), at: start, in: call)
  }

  private func ends(signs: Int, isLong: Bool) -> Bool {
    guard position < bytes.count, isLong ? begins("\"\"\"") : begins("\"") else { return false }
    return bytes[(position + (isLong ? 3 : 1))...].prefix(signs).count { $0 == UInt8(ascii: "#") } == signs
  }

  private mutating func add(_ text: String, at start: Int, in call: String) {
    let between = String(decoding: code, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    code = []
    if let before = pending, between == ["+"] {
      pending = Message(path: path, line: before.line, text: before.text + text, call: before.call)
    } else {
      finish()
      pending = Message(path: path, line: start, text: text, call: call)
    }
  }

  private mutating func finish() {
    if let pending { messages.append(pending) }
    pending = nil
  }
}

extension Message {
  private static let ofProgrammers: Set<String> = ["precondition", "preconditionFailure", "assert", "fatalError"]
  private static let beginningsOfSQL = [
    "SELECT", "INSERT", "DELETE", "UPDATE", "CREATE", "PRAGMA", "DROP", "LEFT JOIN", "WHERE", "AND ", "ORDER", "ALTER",
    "BEGIN", "ROLLBACK", "WITH ", "MATCH",
  ]

  /// Whether it is a sentence or a part of one, and not a statement, a part of a page or a name.
  fileprivate var isProse: Bool {
    if Self.ofProgrammers.contains(call) || Self.beginningsOfSQL.contains(where: text.hasPrefix) { return false }
    if [" FROM ", " WHERE ", "</", "=\"", "px;", "/bin/", "Z_", "://"].contains(where: text.contains) { return false }
    return words.count { $0.count > 1 && $0.allSatisfy { $0.isLowercase || $0 == "'" } } >= 4
  }

  /// Its words without the punctuation around them, in lower case.
  var words: [String] {
    text.split { !$0.isLetter && !$0.isNumber && $0 != "'" && $0 != "-" }.map { $0.lowercased() }
  }

  func contains(phrase: String) -> Bool { " \(words.joined(separator: " ")) ".contains(" \(phrase) ") }
}
