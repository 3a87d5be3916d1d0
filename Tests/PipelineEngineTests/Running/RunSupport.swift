import DefinitionTestSupport
import Foundation
import OpenCoreData
import PipelineEngine
import TestSupport
import Testing

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
  _ definition: PipelineDefinition, _ kind: RunSummary.Kind = .import, inputs: [String] = [], store: String?,
  model: NSManagedObjectModel = RunModel.make(), change: (inout RunOptions) -> Void = { _ in }
) async throws -> RunSummary {
  var options = RunOptions()
  options.inputs = inputs
  options.store = store
  options.model = model
  change(&options)
  let summary = try await PipelineRunner(definition, kind, options: options).run()
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
