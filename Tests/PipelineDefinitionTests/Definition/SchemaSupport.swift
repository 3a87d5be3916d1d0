import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition

/// `Pipelines/pipeline.schema.json` as the tests look at it: which objects it describes, and where.
struct PipelineSchema {
  /// One shape of an object at a key path, indices left out.
  struct Shape {
    let path: String
    let properties: [String: JSONValue]
    /// The members that tell this shape from others at the same place.
    let constants: [String: JSONValue]
    let required: [String]
  }

  static let folder = Repository.file("Pipelines")

  let text: String
  let root: JSONValue
  /// Every shape of object that the schema allows anywhere.
  private(set) var shapes: [Shape] = []

  init() throws {
    text = try String(contentsOf: Self.folder.appendingPathComponent("pipeline.schema.json"), encoding: .utf8)
    root = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    shapes = shapes(of: root, path: "")
  }

  /// `inside` names the definitions around the node: a condition may hold conditions without end.
  private func shapes(of node: JSONValue, path: String, inside: Set<String> = []) -> [Shape] {
    let reference = node["$ref"]?.text
    if let reference, inside.contains(reference) { return [] }
    let inside = inside.union(reference.map { [$0] } ?? [])
    return alternatives(of: node).flatMap { alternative -> [Shape] in
      if let items = alternative["items"] { return shapes(of: items, path: path + "[]", inside: inside) }
      guard let properties = alternative["properties"]?.members, alternative["additionalProperties"] == .bool(false)
      else { return [] }
      let own = Shape(
        path: path, properties: properties, constants: properties.compactMapValues { $0["const"] },
        required: alternative["required"]?.items.compactMap(\.text) ?? [])
      return [own]
        + properties.sorted { $0.key < $1.key }.flatMap {
          shapes(of: $0.value, path: path.isEmpty ? $0.key : "\(path).\($0.key)", inside: inside)
        }
    }
  }

  /// What a node may be: references followed, `anyOf` taken apart.
  func alternatives(of node: JSONValue) -> [JSONValue] {
    if let name = node["$ref"]?.text?.split(separator: "/").last {
      return root["$defs"]?[String(name)].map(alternatives) ?? []
    }
    // For an object with properties `anyOf` only says which are needed.
    if node["properties"] == nil, node["format"] == nil, let choices = node["anyOf"]?.items {
      return choices.flatMap(alternatives)
    }
    return [node]
  }

  /// The key paths whose texts are places of files.
  var pathKeys: Set<String> {
    var keys = Set<String>()
    for shape in shapes {
      for (key, node) in shape.properties {
        let path = shape.path.isEmpty ? key : "\(shape.path).\(key)"
        for alternative in alternatives(of: node) {
          if alternative["format"] == .string("path") { keys.insert(path) }
          let items = alternative["items"].map(alternatives) ?? []
          if items.contains(where: { $0["format"] == .string("path") }) { keys.insert(path + "[]") }
        }
      }
    }
    return keys
  }

  /// A definition with `value` at a key path of objects and lists, and around it what is needed to get there.
  func document(with value: JSONValue, at path: String) -> JSONValue {
    var steps = path.split(separator: ".").map(String.init)
    guard let last = steps.popLast() else { return value }
    let (key, isItem) = last.hasSuffix("[]") ? (String(last.dropLast(2)), true) : (last, false)
    let holderPath = steps.joined(separator: ".")
    let holder = shapes.first { $0.path == holderPath && $0.properties[key] != nil }
    var members = holder?.skeleton ?? [:]
    members[key] = isItem ? .array([value]) : value
    return document(with: .object(members), at: holderPath)
  }

  /// `accepts` for each document, by an independent validator.
  func verdicts(_ documents: [String]) throws -> [Bool] {
    let input = "{\"schema\": \(text), \"documents\": [\(documents.joined(separator: ","))]}"
    return try python(
      """
      import json, jsonschema, sys
      given = json.load(sys.stdin)
      jsonschema.Draft202012Validator.check_schema(given["schema"])
      validator = jsonschema.Draft202012Validator(given["schema"])
      for document in given["documents"]:
          print(validator.is_valid(document))
      """, input: input
    ).split(separator: "\n").map { $0 == "True" }
  }
}

extension PipelineSchema.Shape {
  /// The members without which a reader does not look at the others.
  var skeleton: [String: JSONValue] {
    var members = constants
    for key in required where members[key] == nil { members[key] = .string("x") }
    return members
  }
}

extension JSONValue {
  var members: [String: JSONValue]? {
    guard case .object(let members) = self else { return nil }
    return members
  }

  var items: [JSONValue] {
    guard case .array(let items) = self else { return [] }
    return items
  }

  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  subscript(_ key: String) -> JSONValue? { members?[key] }

  /// What `JSONSerialization` writes.
  var plain: Any {
    switch self {
    case .null: NSNull()
    case .bool(let flag): flag
    case .number(let number): Int(exactly: number) ?? number
    case .string(let text): text
    case .array(let items): items.map(\.plain)
    case .object(let members): members.mapValues(\.plain)
    }
  }
}
