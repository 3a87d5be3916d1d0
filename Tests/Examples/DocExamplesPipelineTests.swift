import Foundation
import TestSupport
import Testing

/// Compares the examples in documentation comments and articles with the compiled code.
@Suite("Examples in the documentation of CSV, pipelines and the journal are compiled")
struct DocExamplesPipelineTests {
  static let modules = ["CSV", "SystemSupport", "PipelineDefinition", "PipelineEngine", "SurfJournal"]

  /// The declarations that clients meet first, by file.
  static let documented = [
    "CSV/Dialect/CSVDialect", "CSV/Reader/CSVReader", "CSV/Writer/CSVWriter", "CSV/Sink/ByteSink",
    "CSV/Source/ByteSource", "PipelineEngine/Run/PipelineRunner", "PipelineEngine/Base/RunOptions",
    "PipelineEngine/Report/RunSummary",
    "PipelineDefinition/Definition/PipelineDefinition", "PipelineDefinition/Definition/PipelineDefinition+Reading",
    "PipelineDefinition/Definition/ColumnDefinition", "PipelineDefinition/Definition/DialectDefinition",
    "PipelineDefinition/Values/DateFormat", "SurfJournal/Journal/Presets", "SurfJournal/CoreDataStack/CoreDataStack",
    "SurfJournal/Journal/JournalEditor",
  ]

  @Test("Every example of a module is in one of two files", arguments: modules)
  func examples(module: String) throws {
    let compiled = try ["Pipeline", "Runs"].map { try text("Tests/Examples/DocExamples\($0).swift") }.joined()
    let paths = try FileManager.default.subpathsOfDirectory(atPath: Repository.path("Sources/\(module)"))
    for path in paths where path.hasSuffix(".swift") || path.hasSuffix(".md") {
      let content = try text("Sources/\(module)/\(path)")
      let examples =
        path.hasSuffix(".md")
        ? DocExamplesTests.examples(inArticle: content) : DocExamplesTests.examples(in: content)
      for example in examples {
        #expect(DocExamplesTests.contains(compiled, example), "\(module)/\(path): \(example)")
      }
    }
  }

  @Test("Every example of the manual is compiled, or is the manifest of a package")
  func manual() throws {
    let paths = ["DocExamplesRuns", "DocExamplesPipeline", "ManualExamples"].map { "Tests/Examples/\($0).swift" }
    // As in the examples, without what is imported.
    let compiled = try (paths + ["Tests/ModelGeneratorTests/LinkedAppTutorialTests.swift"])
      .flatMap { try text($0).split(separator: "\n") }.filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
    var count = 0
    for path in try FileManager.default.subpathsOfDirectory(atPath: Repository.path("docs/manual"))
    where path.hasSuffix(".md") {
      for example in DocExamplesTests.examples(inArticle: try text("docs/manual/\(path)"))
      // The manual's own test lets the package manager read the manifest.
      where !example.hasPrefix("// swift-tools-version") {
        count += 1
        #expect(DocExamplesTests.contains(compiled, example), "\(path): \(example)")
      }
    }
    #expect(count >= 4)
  }

  @Test("The declarations that clients meet first have an example", arguments: documented)
  func hasExample(declaration: String) throws {
    #expect(!DocExamplesTests.examples(in: try text("Sources/\(declaration).swift")).isEmpty)
  }

  private func text(_ path: String) throws -> String { try String(contentsOf: Repository.file(path), encoding: .utf8) }
}
