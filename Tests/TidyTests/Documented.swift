extension Rule {
  static let documented = Rule(
    "Every public declaration of a library has a doc comment",
    covers: { $0.isSwift && $0.module != nil && !$0.path.contains("/Generated/") },
    canaries: [
      ("public let a = 1", 1), ("/// A.\npublic struct A {\n  public var b = 1\n}", 3),
      ("/// A.\npublic let a = 1\npublic let b = 2", 3), ("// A.\nopen class A {}", 2),
      ("@inlinable public func a() {}", 1), ("  public init?(\n    _ b: Int\n  ) {}", 1),
      ("/// A.\n@frozen public struct A {}\n@frozen public struct B {}", 3),
      ("/// A.\npublic protocol A {\n  func b()\n}\nextension B {\n  func c() {}\n}", 3),
      ("public static func + (a: A, b: A) -> A { a }", 1), ("public subscript(a: Int) -> Int { a }", 1),
      ("/// A.\npublic enum A {\n  func b() {\n  }\n  case b\n}", 5), ("/// A.\n\npublic let a = 1", 3),
      ("public var description: String?", 1),
    ],
    permitted: [
      "/// A.\npublic let a = 1", "/// A.\n@discardableResult\n@inlinable\npublic func a() -> Int { 1 }",
      "/// A.\n// Unchecked: see `B`.\nopen class A {}", "public extension A {}", "public import Foundation",
      "let a = 1", "package let a = 1", "open = []", "// public let a = 1", "let a = \"\"\"\npublic let b = 1\n\"\"\"",
      "public override func a() {}", "open override var description: String { \"\" }",
      "public var description: String { \"\" }", "public func hash(into hasher: inout Hasher) {}",
      "public static func == (a: A, b: A) -> Bool { true }", "public init(from decoder: any Decoder) throws {}",
      "public required init?(coder: NSCoder) {}",
      "/// A.\npublic enum A {\n  /// B.\n  case b\n  private enum C {\n    case d\n  }\n}",
      "/// A.\npublic enum A {\n  var b: Int {\n    switch c {\n    case d: 1\n    }\n  }\n}",
      "enum A {\n  case b\n}", "protocol A {\n  func b()\n}",
    ]
  ) { file in
    var lines: [Int] = []
    /// The indentations of the public protocols and enumerations that a line is in, and their kinds.
    var outer: [(indentation: Int, kind: PublicDeclaration.Kind)] = []
    for index in file.code.indices {
      let line = file.code[index]
      guard let first = line.firstIndex(where: { $0 != " " }) else { continue }
      let indentation = line.distance(from: line.startIndex, to: first)
      while let last = outer.last, indentation <= last.indentation { outer.removeLast() }
      let owner = outer.last.flatMap { indentation == $0.indentation + 2 ? $0.kind : nil }
      let declaration = PublicDeclaration(line, in: owner)
      if let declaration { outer.append((indentation, declaration.kind)) }
      if declaration?.needsComment == true, !file.hasDocComment(above: index) { lines.append(index + 1) }
    }
    return lines
  }
}

/// The first line of a public declaration, in masked code.
private struct PublicDeclaration {
  private let text: Substring
  private let words: [Substring]

  enum Kind { case `protocol`, enumeration, other }

  var kind: Kind {
    words.contains("protocol") ? .protocol : words.contains("enum") ? .enumeration : .other
  }

  /// What overrides or is required by a protocol of the system is documented there.
  var needsComment: Bool {
    !words.contains("override") && !Self.inherited.contains { text.contains($0) }
  }

  /// - Parameter owner: The kind of the public declaration whose member the line may be.
  init?(_ line: String, in owner: Kind?) {
    text = Self.withoutAttributes(line[...])
    words = text.prefix { !"({=:".contains($0) }.split { !$0.isLetter }
    let isPublic = words.first == "public" || words.first == "open"
    guard let keyword = words.firstIndex(where: Self.keywords.contains) else { return nil }
    if isPublic { return }
    let isAlone = words[..<keyword].allSatisfy(Self.modifiers.contains)
    guard isAlone, owner == .protocol || owner == .enumeration && words[keyword] == "case" else { return nil }
  }

  private static let keywords: Set<Substring> = [
    "actor", "associatedtype", "case", "class", "enum", "func", "init", "let", "protocol", "struct", "subscript",
    "typealias",
    "var",
  ]

  private static let modifiers: Set<Substring> = ["class", "mutating", "nonisolated", "static"]

  /// Requirements of the standard library's and Foundation's protocols, and of `ManagedAttributeValue`, whose own
  /// comments say what they do.
  private static let inherited = [
    "var description: String {", "var debugDescription: String {", "var errorDescription: String? {",
    "var rawValue: ", "let rawValue: ", "init(rawValue: ", "var startIndex: Int", "var endIndex: Int",
    "func hash(into ", "func == (", "func < (", "func encode(to ", "init(from decoder", "init(coder",
    "init?(coder", "func encode(with ", "func copy(with ", "static var supportsSecureCoding",
    "static func fromStored(",
    "public var storedAttributeValue",
  ]

  /// The line without `@name` and `@name(…)` at its beginning.
  private static func withoutAttributes(_ line: Substring) -> Substring {
    let rest = line.drop { $0 == " " }
    guard rest.first == "@" else { return rest }
    let name = rest.dropFirst().drop { $0.isLetter || $0 == "_" }
    guard name.first == "(" else { return withoutAttributes(name) }
    return withoutAttributes(name.drop { $0 != ")" }.dropFirst())
  }

  /// Whether the line has attributes alone.
  static func isAttribute(_ line: String) -> Bool {
    line.contains("@") && withoutAttributes(line[...]).isEmpty
  }
}

extension SourceFile {
  /// Whether the lines above, apart from attributes and other comments, end with a documentation comment.
  fileprivate func hasDocComment(above index: Int) -> Bool {
    for above in lines[..<index].indices.reversed() {
      let text = lines[above].drop { $0 == " " }
      if text.hasPrefix("///") { return true }
      if !text.hasPrefix("//"), !PublicDeclaration.isAttribute(code[above]) { return false }
    }
    return false
  }
}
