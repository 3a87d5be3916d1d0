import Foundation
import PipelineEngine
import SurfJournal
import TestSupport
import Testing

/// The files of `Pipelines/` and the built-in pipelines of the same names say the same.
@Suite struct PresetFileTests {
  private static let folder = Repository.file("Pipelines")

  @Test(arguments: PipelineDefinition.presets.map(\.name))
  func `A file equals the preset of its name`(name: String) throws {
    var definition = try PipelineDefinition(
      contentsOf: Self.folder.appendingPathComponent("\(name).json"),
      environment: DefinitionEnvironment(vocabulary: .journal))
    definition.baseDirectory = nil
    #expect(definition == PipelineDefinition.presets.first { $0.name == name })
  }

  /// Ready pipelines that build on a preset or have a model of their own; each is run by a test of the command.
  static let others = ["dry-run-report", "nightly-inbox", "surfing", "update-by-key"]

  @Test func `Every preset has a file, and every other file is known`() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
      .filter { $0.hasSuffix(".json") && !$0.hasSuffix(".schema.json") }
    #expect(files.sorted() == (PipelineDefinition.presets.map(\.name) + Self.others).map { "\($0).json" }.sorted())
  }

  @Test(arguments: PipelineDefinition.presets.map(\.name) + others)
  func `A file explains itself in comments`(name: String) throws {
    let text = try String(contentsOf: Self.folder.appendingPathComponent("\(name).json"), encoding: .utf8)
    #expect(text.hasPrefix("// "))
  }

  @Test(arguments: PipelineDefinition.presets)
  func `A preset has no mistakes`(preset: PipelineDefinition) {
    #expect(throws: Never.self) { try preset.check() }
  }

  @Test func `The first preset is the one of a bare import: a date and free text, no key`() {
    #expect(PipelineDefinition.presets.map(\.name) == ["surf-log", "surf-log-strict", "journal-app", "round-trip"])
    #expect(PipelineDefinition.surfLog.key.isEmpty)
  }
}
