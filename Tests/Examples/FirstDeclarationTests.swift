import Foundation
import TestSupport
import Testing

/// The doc comments of the declarations that people meet first.
@Suite("The declarations that people meet first have doc comments")
struct FirstDeclarationTests {
  @Test("Each has a summary, its parameters, its errors and an example", arguments: FirstDeclaration.all)
  func documented(_ declaration: FirstDeclaration) throws {
    let found = try Self.comments(of: declaration)
    #expect(found.count == 1, "the list names one declaration by its beginning")
    let omitted = FirstDeclaration.shownByType.contains(declaration) ? ["the example"] : []
    for comment in found { #expect(comment.omissions == omitted) }
  }

  @Test("One without an example is used in the example of its type", arguments: FirstDeclaration.shownByType)
  func shownByType(_ declaration: FirstDeclaration) throws {
    #expect(FirstDeclaration.all.contains(declaration))
    let type = try Self.comments(of: try #require(declaration.owner))
    let use = try #require(declaration.use)
    #expect(type.count == 1)
    for comment in type { #expect(comment.examples.contains(use), "\(use)") }
  }

  @Test("There are as many as a client meets") func size() { #expect(FirstDeclaration.all.count >= 80) }

  @Test("What a comment leaves out is found") func canary() {
    let source = """
      /// A list.
      ///
      /// ```swift
      /// List().isEmpty
      /// ```
      open class List {
        /// Makes one.
        ///
        /// ```swift
        /// List()
        /// ```
        ///
        /// - Parameter count: How many.
        public init(count: Int, by name: (Int, [String]) -> Void) throws {
        }

        public var isEmpty = true
        /// Adds `item`, or throws.
        @discardableResult
        public func add(
          _ item: Int
        ) throws -> Int {}
        struct Inner {
          public var isEmpty = true
        }
      }
      """
    func omissions(_ beginning: String, _ type: String = "List") -> [[String]] {
      let declaration = FirstDeclaration(module: "M", type: type, beginning: beginning)
      return DeclaringFile(source).comments(of: declaration).map(\.omissions)
    }
    #expect(omissions("open class List", "") == [[]])
    #expect(omissions("public init(") == [["the parameter name", "the errors"]])
    #expect(omissions("public var isEmpty") == [["the summary"]])
    #expect(omissions("public func add(") == [["the example"]])
    #expect(omissions("public var isEmpty", "Inner") == [["the summary"]])
    #expect(omissions("public var isFull") == [])
  }

  private static func comments(of declaration: FirstDeclaration) throws -> [DeclarationComment] {
    try files.get()[declaration.module, default: []].flatMap { $0.comments(of: declaration) }
  }

  /// By module, its files. They are read once for all declarations.
  private static let files = Result { () throws -> [String: [DeclaringFile]] in
    let modules = Set(FirstDeclaration.all.map(\.module))
    return try Dictionary(uniqueKeysWithValues: modules.map { ($0, try read($0)) })
  }

  private static func read(_ module: String) throws -> [DeclaringFile] {
    let folder = "Sources/\(module)"
    return try FileManager.default.subpathsOfDirectory(atPath: Repository.path(folder))
      .filter { $0.hasSuffix(".swift") }
      .map { DeclaringFile(try String(contentsOf: Repository.file("\(folder)/\($0)"), encoding: .utf8)) }
  }
}

/// The lines of a file, and which of them begin a public declaration.
private struct DeclaringFile: Sendable {
  private let lines: [Substring]
  private let beginnings: [(index: Int, text: Substring)]

  init(_ source: String) {
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    self.lines = lines
    beginnings = lines.indices.compactMap { index in
      let text = lines[index].drop { $0 == " " }
      guard text.hasPrefix("public ") || text.hasPrefix("open ") else { return nil }
      // Long parameters begin on the next line.
      let next = text.hasSuffix("(") && index + 1 < lines.count ? lines[index + 1].drop { $0 == " " } : ""
      return (index, text + next)
    }
  }

  func comments(of declaration: FirstDeclaration) -> [DeclarationComment] {
    beginnings.filter { $0.text.hasPrefix(declaration.beginning) && owner(of: $0.index) == declaration.type }
      .map { DeclarationComment(at: $0.index, lines) }
  }

  /// The name of the type that a line is in; empty at the top level.
  private func owner(of index: Int) -> String {
    let indentation = lines[index].prefix { $0 == " " }.count
    guard indentation >= 2 else { return "" }
    let kinds: Set<Substring> = ["actor", "class", "enum", "extension", "protocol", "struct"]
    for line in lines[..<index].reversed() where line.prefix(while: { $0 == " " }).count == indentation - 2 {
      let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      // `class func` is a member.
      if let kind = words.firstIndex(where: { kinds.contains($0) }), kind + 1 < words.count, words[kind + 1] != "func",
        words[kind + 1] != "var"
      {
        return String(words[kind + 1])
      }
    }
    return ""
  }
}

/// The doc comment of a declaration, and what it is about. It relies on the indentation that the formatter gives.
private struct DeclarationComment {
  private let comment: String
  /// The declaration up to the end of its parameters and what follows on that line.
  private let signature: String

  init(at index: Int, _ lines: [Substring]) {
    var comments: [Substring] = []
    for line in lines[..<index].reversed().map({ $0.drop { $0 == " " } }) {
      if line.hasPrefix("///") {
        comments.insert(line.dropFirst(3), at: 0)
      } else if !line.hasPrefix("@"), !line.hasPrefix("//") {
        break
      }
    }
    comment = comments.joined(separator: "\n")
    var signature = ""
    for line in lines[index...] {
      signature += line.drop { $0 == " " } + " "
      if signature.count(where: { $0 == "(" }) == signature.count(where: { $0 == ")" }) { break }
    }
    self.signature = signature
  }

  /// The code between ```` ```swift ```` and the next ```` ``` ````.
  var examples: String { part(odd: true) }
  private var prose: String { part(odd: false) }

  private func part(odd: Bool) -> String {
    comment.split(separator: "```", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) == odd }
      .map { odd ? $0.element.trimmingPrefix("swift") : $0.element }
      .joined(separator: "\n")
  }

  var omissions: [String] {
    let summary = comment.prefix { $0 != "\n" }.drop { $0 == " " }
    if summary.isEmpty || summary.hasPrefix("- ") { return ["the summary"] }
    let missing = parameters.filter { name in
      !["`\(name)`", "- Parameter \(name):", "- \(name):"].contains { prose.contains($0) }
    }
    let words = signature.split { !$0.isLetter }
    let throwing = words.contains("throws") && !words.contains("rethrows")
    return missing.map { "the parameter \($0)" }
      + (throwing && !prose.lowercased().contains("throw") ? ["the errors"] : [])
      + (examples.isEmpty ? ["the example"] : [])
  }

  /// The names by which the body knows the parameters.
  private var parameters: [String] {
    let words = signature.prefix { $0 != "(" }.split { !$0.isLetter }
    guard words.contains("func") || words.contains("init") else { return [] }
    var depth = 0
    var parameters = [""]
    var last: Character = " "
    for character in signature.drop(while: { $0 != "(" }) {
      if "([{<".contains(character) { depth += 1 }
      if ")]}".contains(character) || character == ">" && last != "-" { depth -= 1 }
      if depth == 0 { break }
      if character == ",", depth == 1 {
        parameters.append("")
      } else {
        parameters[parameters.count - 1].append(character)
      }
      last = character
    }
    return parameters.compactMap { parameter in
      let names = parameter.prefix { $0 != ":" }.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      return names.last.map(String.init)
    }
  }
}
