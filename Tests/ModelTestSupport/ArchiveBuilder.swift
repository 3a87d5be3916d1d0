import Foundation

/// Makes keyed archives object by object, as XML with the `CF$UID` of references.
package final class ArchiveBuilder {
  private var objects: [Any] = ["$null"]
  private var classes: [String: Int] = [:]

  package init() {}

  private func reference(_ place: Int) -> [String: Any] { ["CF$UID": place] }

  package func add(_ value: Any) -> [String: Any] {
    objects.append(value)
    return reference(objects.count - 1)
  }

  /// An object of a class, or a place for one whose values come later.
  package func object(_ className: String, _ values: [String: Any] = [:]) -> [String: Any] {
    let known =
      classes[className]
      ?? {
        objects.append(["$classname": className, "$classes": [className, "NSObject"]])
        return objects.count - 1
      }()
    classes[className] = known
    return add(values.merging(["$class": reference(known)]) { $1 })
  }

  package func set(_ object: [String: Any], _ values: [String: Any]) {
    guard let place = object["CF$UID"] as? Int, let old = objects[place] as? [String: Any] else { return }
    objects[place] = old.merging(values) { $1 }
  }

  package func list(_ members: [[String: Any]]) -> [String: Any] { object("NSArray", ["NS.objects": members]) }

  package func dictionary(_ entries: [(String, [String: Any])]) -> [String: Any] {
    object(
      "NSMutableDictionary", ["NS.keys": entries.map { add($0.0) }, "NS.objects": entries.map(\.1)])
  }

  package func xml(root: [String: Any]) throws -> Data {
    try PropertyListSerialization.data(
      fromPropertyList: [
        "$archiver": "NSKeyedArchiver", "$version": 100_000, "$top": ["root": root], "$objects": objects,
      ], format: .xml, options: 0)
  }

  // MARK: Predicates

  package func constant(_ value: Any) -> [String: Any] {
    object("NSConstantValueExpression", ["NSConstantValue": add(value), "NSExpressionType": 0])
  }

  package var itself: [String: Any] { object("NSSelfExpression", ["NSExpressionType": 1]) }

  package func keys(_ path: String, of operand: [String: Any]? = nil) -> [String: Any] {
    let specifier = object("NSKeyPathSpecifierExpression", ["NSKeyPath": add(path), "NSExpressionType": 10])
    return object(
      "NSKeyPathExpression",
      [
        "NSOperand": operand ?? itself, "NSSelectorName": add("valueForKeyPath:"), "NSExpressionType": 3,
        "NSArguments": list([specifier]),
      ])
  }

  package func compare(
    _ left: [String: Any], type: Int, with right: [String: Any], options: Int = 0, modifier: Int = 0
  ) -> [String: Any] {
    let how = object(
      "NSPredicateOperator", ["NSOperatorType": type, "NSModifier": modifier, "NSOptions": options])
    return object(
      "NSComparisonPredicate",
      ["NSLeftExpression": left, "NSRightExpression": right, "NSPredicateOperator": how])
  }

  package func compound(_ type: Int, _ parts: [[String: Any]]) -> [String: Any] {
    object("NSCompoundPredicate", ["NSCompoundPredicateType": type, "NSSubpredicates": list(parts)])
  }
}

/// A model of one entity, `Thing`, with these properties by their names.
package func thingArchive(
  _ builder: ArchiveBuilder, _ properties: [(String, [String: Any])], model: [String: Any] = [:],
  entity values: [String: Any] = [:]
) throws -> Data {
  let entity = builder.object("NSEntityDescription")
  builder.set(
    entity,
    ["NSEntityName": builder.add("Thing"), "NSProperties": builder.dictionary(properties)].merging(values) { $1 })
  let root = builder.object(
    "NSManagedObjectModel", ["NSEntities": builder.dictionary([("Thing", entity)])].merging(model) { $1 })
  return try builder.xml(root: root)
}
