import Foundation
import TestSupport
import Testing

/// Compares the examples in documentation comments and articles with the compiled code.
@Suite("Examples in the documentation of CSV, definitions and the journal are compiled")
struct DocExamplesPipelineTests {
  static let modules = ["CSV", "Locking", "PipelineDefinition", "SurfJournal"]

  /// The declarations that clients meet first, by file.
  static let documented = [
    "CSV/Dialect/CSVDialect", "CSV/Reader/CSVReader", "CSV/Writer/CSVWriter", "CSV/Sink/ByteSink",
    "PipelineDefinition/Definition/PipelineDefinition", "PipelineDefinition/Definition/PipelineDefinition+Reading",
    "PipelineDefinition/Definition/ColumnDefinition", "PipelineDefinition/Definition/DialectDefinition",
    "PipelineDefinition/Values/DateFormat", "SurfJournal/Presets", "SurfJournal/CoreDataStack/CoreDataStack",
    "SurfJournal/Journal/JournalEditor",
  ]

  @Test("Every example of a module is in DocExamplesPipeline.swift", arguments: modules)
  func examples(module: String) throws {
    let compiled = try text("Tests/Examples/DocExamplesPipeline.swift")
    let paths = try FileManager.default.subpathsOfDirectory(atPath: Repository.path("Sources/\(module)"))
    for path in paths where path.hasSuffix(".swift") || path.hasSuffix(".md") {
      for example in Self.examples(in: try text("Sources/\(module)/\(path)"), isArticle: path.hasSuffix(".md")) {
        #expect(Self.contains(compiled, example), "\(module)/\(path): \(example)")
      }
    }
  }

  @Test("The declarations that clients meet first have an example", arguments: documented)
  func documented(declaration: String) throws {
    #expect(!Self.examples(in: try text("Sources/\(declaration).swift"), isArticle: false).isEmpty)
  }

  @Test("An example that differs from the compiled code is found")
  func canary() {
    let source = "  /// A list.\n  ///\n  /// ```swift\n  /// let a = 1\n  ///   + 2\n  /// ```\n  struct List {}"
    #expect(Self.examples(in: source, isArticle: false) == ["let a = 1\n  + 2"])
    #expect(Self.examples(in: "# A\n\n```swift\nlet a = 1\n```\n\n```sh\nls\n```\n", isArticle: true) == ["let a = 1"])
    #expect(Self.contains("func list() {\n    let a = 1\n      + 2\n}", "let a = 1\n  + 2"))
    #expect(!Self.contains("func list() {\n  let a = 1\n}", "let a = 2"))
    #expect(!Self.contains("func list() {\n  let ab = 1\n}", "b = 1"))
  }

  private func text(_ path: String) throws -> String { try String(contentsOf: Repository.file(path), encoding: .utf8) }

  /// The fenced Swift code of an article, or of the documentation comments of a Swift file.
  private static func examples(in source: String, isArticle: Bool) -> [String] {
    var examples: [String] = []
    var example: [String]?
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
      var line = line
      if !isArticle {
        line = line.drop { $0 == " " }
        guard line.hasPrefix("///") else { continue }
        line = line.dropFirst(3).trimmingPrefix(" ")
      }
      if line == "```swift" {
        example = []
      } else if line == "```", let lines = example {
        examples.append(lines.joined(separator: "\n"))
        example = nil
      } else {
        example?.append(String(line))
      }
    }
    return examples
  }

  /// Whether the code contains the example as whole lines, at any indentation.
  private static func contains(_ code: String, _ example: String) -> Bool {
    func lines(_ text: String) -> [String] {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    return lines(code).contains(lines(example))
  }
}
