import Foundation
import OpenCoreData
import PipelineEngine
import Testing

/// A folder of a test's own, gone with the last one who holds it.
final class RunFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Writes a file and gives its path.
  func write(_ name: String, _ text: String) throws -> String {
    try Data(text.utf8).write(to: url.appendingPathComponent(name))
    return path(name)
  }

  func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: url.appendingPathComponent(name)), as: UTF8.self)
  }
}

/// What the `sqlite3` shell says: an independent reader of what was written.
func sqlite(_ path: String, _ sql: String) throws -> String {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["sqlite3", "-batch", path, sql]
  let output = Pipe()
  process.standardOutput = output
  try process.run()
  let data = output.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  try #require(process.terminationStatus == 0)
  return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
}

enum RunModel {
  /// The journal's entity, built in code; with constraints where a test wants refusals.
  static func make(unique: [String] = [], ratingMax: Int? = nil) -> NSManagedObjectModel {
    let entity = NSEntityDescription()
    entity.name = "JournalEntry"
    let types: [(String, NSAttributeType)] = [
      ("date", .dateAttributeType), ("height", .stringAttributeType), ("location", .stringAttributeType),
      ("period", .stringAttributeType), ("rating", .integer16AttributeType), ("wind", .stringAttributeType),
    ]
    entity.properties = types.map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      if name == "rating" { attribute.maximumValue = ratingMax }
      return attribute
    }
    if !unique.isEmpty { entity.uniquenessConstraints = [unique] }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }
}

extension PipelineDefinition {
  /// Date, location and rating by header, no further rules.
  static func plain(_ change: (inout PipelineDefinition) -> Void = { _ in }) -> PipelineDefinition {
    var definition = PipelineDefinition(
      name: "plain",
      columns: [
        ColumnDefinition("date", required: true, rules: [ValueRule(.required)]), ColumnDefinition("location"),
        ColumnDefinition("rating"),
      ], vocabulary: .journal)
    change(&definition)
    return definition
  }
}

/// Runs a pipeline over `inputs` into `store`.
func run(
  _ definition: PipelineDefinition, _ kind: RunSummary.Kind = .import, _ inputs: [String] = [], store: String?,
  model: NSManagedObjectModel = RunModel.make(), _ change: (inout RunOptions) -> Void = { _ in }
) async throws -> RunSummary {
  var options = RunOptions()
  options.inputs = inputs
  options.store = store
  options.model = model
  change(&options)
  let summary = try await PipelineRunner(definition, kind, options).run()
  try summary.counts.checkConservation()
  return summary
}

/// A log of `count` sessions an hour apart.
func log(_ count: Int) -> String {
  var text = "date,location,rating\n"
  for index in 0..<count {
    let day = 1 + index / 24 % 28
    let hour = index % 24
    text +=
      "2020-01-\(day < 10 ? "0" : "")\(day)T\(hour < 10 ? "0" : "")\(hour):00:00Z,Spot \(index),\(index % 5 + 1)\n"
  }
  return text
}
