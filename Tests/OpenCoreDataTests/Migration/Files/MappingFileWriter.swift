import Foundation
import ModelTestSupport
import TestSupport

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// Writes mapping models as Xcode does: compiled, and as the editor's source.
enum MappingFileWriter {
  // MARK: Compiled

  static func compiled(_ model: NSMappingModel) throws -> Data {
    let builder = ArchiveBuilder()
    let list = builder.list(model.entityMappings.map { entity($0, builder) })
    return try builder.xml(root: builder.object("NSMappingModel", ["NSEntityMappings": list]))
  }

  private static func entity(_ mapping: NSEntityMapping, _ builder: ArchiveBuilder) -> [String: Any] {
    func properties(_ mappings: [NSPropertyMapping]?) -> [String: Any] {
      builder.list(
        (mappings ?? []).map { mapping in
          builder.object(
            "NSPropertyMapping",
            [
              "NSDestinationPropertyName": builder.optional(mapping.name), "NSPropertyTransforms": builder.null,
              "NSValueExpression": mapping.valueExpression.map { builder.expression($0.tree) } ?? builder.null,
              "NSUserInfo": builder.userInfo(mapping.userInfo),
            ])
        })
    }
    return builder.object(
      "NSEntityMapping",
      [
        "NSMappingName": builder.add(mapping.name), "NSMappingType": Int(mapping.mappingType.rawValue),
        "NSSourceEntityName": builder.optional(mapping.sourceEntityName),
        "NSSourceEntityVersionHash": builder.optional(mapping.sourceEntityVersionHash),
        "NSDestinationEntityName": builder.optional(mapping.destinationEntityName),
        "NSDestinationEntityVersionHash": builder.optional(mapping.destinationEntityVersionHash),
        "NSSourceExpression": mapping.sourceExpression.map { builder.expression($0.tree) } ?? builder.null,
        "NSEntityMigrationPolicyClassName": builder.optional(mapping.entityMigrationPolicyClassName),
        "NSAttributeMappings": properties(mapping.attributeMappings),
        "NSRelationshipMappings": properties(mapping.relationshipMappings),
        "NSUserInfo": builder.userInfo(mapping.userInfo),
      ])
  }

  // MARK: Source

  /// The XML of a mapping model between two models.
  ///
  /// - Parameter leaving: Whether the expression of a property is left out, so that the editor's is generated.
  static func source(
    _ model: NSMappingModel, from old: NSManagedObjectModel, to new: NSManagedObjectModel,
    leaving: (NSEntityMapping, NSPropertyMapping) -> Bool = { _, _ in false }
  ) throws -> String {
    var objects = ""
    var last = 0
    func id() -> String {
      last += 1
      return "z\(last)"
    }
    func add(_ id: String, _ kind: String, attributes: [(String, String?)], links: [(String, [String])] = []) {
      objects += "<object type=\"XDDEV\(kind)MAPPING\" id=\"\(id)\">\n".replacing("MODELMAPPING", with: "MAPPINGMODEL")
      for case (let name, let text?) in attributes {
        objects += "  <attribute name=\"\(name)\" type=\"string\">\(escaped(text))</attribute>\n"
      }
      for (name, ids) in links {
        let references = ids.isEmpty ? "" : " idrefs=\"\(ids.joined(separator: " "))\""
        objects += "  <relationship name=\"\(name)\" type=\"0/0\"\(references)></relationship>\n"
      }
      objects += "</object>\n"
    }
    func property(_ mapping: NSPropertyMapping, of entity: NSEntityMapping, kind: String) throws -> String {
      let id = id()
      let isLeft = leaving(entity, mapping)
      let data = isLeft ? nil : try mapping.valueExpression.map { try archived { $0.expression($1) }($0.tree) }
      let isNone = mapping.valueExpression == nil && !isLeft
      add(
        id, kind,
        attributes: [
          ("valueexpressiondata", data), ("autogenerateexpression", isNone ? "0" : "1"), ("name", mapping.name),
          ("userinfodata", try mapping.userInfo.map { try archived { $0.userInfo($1) }($0) }),
        ])
      return id
    }
    let entities = try model.entityMappings.enumerated().map { number, mapping -> String in
      let attributes = try (mapping.attributeMappings ?? []).map { try property($0, of: mapping, kind: "ATTRIBUTE") }
      let links = try (mapping.relationshipMappings ?? []).map { try property($0, of: mapping, kind: "RELATIONSHIP") }
      let id = id()
      add(
        id, "ENTITY",
        attributes: [
          ("name", mapping.name), ("sourcename", mapping.sourceEntityName),
          ("destinationname", mapping.destinationEntityName), ("mappingtypename", "Undefined"),
          ("mappingnumber", "\(number + 1)"), ("migrationpolicyclassname", mapping.entityMigrationPolicyClassName),
          ("autogenerateexpression", "1"),
          ("userinfodata", try mapping.userInfo.map { try archived { $0.userInfo($1) }($0) }),
        ], links: [("attributemappings", attributes.reversed()), ("relationshipmappings", links.reversed())])
      return id
    }
    add(
      id(), "MODEL",
      attributes: [
        ("sourcemodelpath", "Old.xcdatamodel"), ("sourcemodeldata", try ElementsWriter.base64(old)),
        ("destinationmodelpath", "New.xcdatamodel"), ("destinationmodeldata", try ElementsWriter.base64(new)),
      ], links: [("entitymappings", entities.reversed())])
    return "<?xml version=\"1.0\" standalone=\"yes\"?>\n<database>\n<databaseInfo/>\n\(objects)</database>\n"
  }

  /// Writes a folder as Xcode's.
  static func write(_ xml: String, to name: String, in folder: TemporaryFolder) throws -> URL {
    try folder.makeFolder(name)
    try folder.write(xml, to: "\(name)/xcmapping.xml")
    return folder.file(name)
  }

  private static func archived<Value>(
    _ make: @escaping (ArchiveBuilder, Value) -> [String: Any]
  ) -> (Value) throws -> String {
    { value in
      let builder = ArchiveBuilder()
      return try builder.xml(root: make(builder, value)).base64EncodedString(options: .lineLength64Characters)
    }
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
  }
}

extension ArchiveBuilder {
  var null: [String: Any] { ["CF$UID": 0] }

  func optional(_ value: Any?) -> [String: Any] { value.map(add) ?? null }

  func userInfo(_ values: [AnyHashable: Any]?) -> [String: Any] {
    guard let values else { return null }
    return dictionary(values.map { ("\($0.key)", add($0.value)) })
  }

  /// An expression in the classes of Apple's framework.
  func expression(_ operand: PredicateOperand) -> [String: Any] {
    switch operand {
    case .constant(let value):
      return object(
        "NSConstantValueExpression",
        ["NSConstantValue": value == .null ? null : optional(value.foundationValue), "NSExpressionType": 0])
    case .variable(let name): return object("NSVariableExpression", ["NSVariable": add(name), "NSExpressionType": 2])
    case .selfObject: return itself
    case .keyPath(let path): return keys(path.joined(separator: "."))
    case .path(let start, let path): return keys(path.joined(separator: "."), of: expression(start))
    case .block(let block, let arguments) where block.methodName != nil:
      return function(block.methodName ?? "", of: expression(arguments[0]), Array(arguments.dropFirst()))
    case .block(_, let arguments):
      return object(
        "NSFetchRequestExpression",
        [
          "NSFRExpression": expression(arguments[0]), "NSMOCExpression": expression(arguments[1]),
          "NSCountOnlyFlag": arguments[2] == .constant(.boolean(true)), "NSExpressionType": 50,
        ])
    case .function(let function, let arguments):
      let utilities = object(
        "NSConstantValueExpression",
        ["NSConstantValueClassName": add("_NSPredicateUtilities"), "NSExpressionType": 0])
      return self.function(function.rawValue, of: utilities, arguments)
    default: return object("NSTernaryExpression")
    }
  }

  private func function(
    _ name: String, of operand: [String: Any], _ arguments: [PredicateOperand]
  ) -> [String: Any] {
    object(
      "NSFunctionExpression",
      [
        "NSOperand": operand, "NSSelectorName": add(name), "NSArguments": list(arguments.map(expression)),
        "NSExpressionType": 4,
      ])
  }
}
