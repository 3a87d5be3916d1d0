import ManagedObjectModel

/// The properties of an entity that code generation uses.
extension NSEntityDescription {
  var entityName: String { name ?? "" }

  /// The class name without its module, nil for plain `NSManagedObject`.
  var ownClassName: String? {
    let name = representedClassName?.split(separator: ".").last.map(String.init)
    return name == "NSManagedObject" ? nil : name
  }

  var generatesClass: Bool { codeGenerationType == "class" && ownClassName != nil }

  /// True also for a handwritten class, if the model says "Category/Extension".
  var generatesProperties: Bool { generatesClass || codeGenerationType == "category" && ownClassName != nil }

  /// The class of the nearest superentity that has one.
  var superclassName: String { superentity?.ownClassName ?? superentity?.superclassName ?? "NSManagedObject" }

  /// A subclass inherits the conformance and must not repeat it.
  var inheritsIdentifiable: Bool {
    superentity.map { $0.generatesProperties || $0.inheritsIdentifiable } ?? false
  }

  /// The class of its objects in generated code.
  var objectType: String { SwiftName.escaped(ownClassName ?? superclassName) }

  /// How visible a member with objects of the entity is. A handwritten class may be internal, and a public member can't
  /// have an internal type.
  var access: String { generatesClass || ownClassName == nil ? "public " : "" }

  func ownProperties<Property: NSPropertyDescription>(as type: Property.Type) -> [Property] {
    ownProperties.compactMap { $0 as? Property }.sorted { $0.name < $1.name }
  }
}

extension NSRelationshipDescription {
  /// The key in the user info of an unordered to-many relationship whose generated property is a `Set` of Swift.
  fileprivate static let swiftSetKey = "OCDSwiftSet"

  fileprivate var swiftSetText: String? { userInfo?[Self.swiftSetKey].map { "\($0)" } }

  /// Whether the model asks for a Swift `Set` of the objects' class, where Xcode's code has an `NSSet`.
  var isSwiftSet: Bool { swiftSetText == "YES" }

  /// What is wrong with the user info.
  fileprivate var swiftSetProblem: String? {
    guard let text = swiftSetText, text != "NO" else { return nil }
    if text != "YES" { return "\(Self.swiftSetKey) is '\(text)'. Write YES or NO." }
    if isToMany, !isOrdered { return nil }
    return "\(Self.swiftSetKey) is for unordered to-many relationships. Remove it."
  }
}

/// A valid model from which no code can be generated.
struct ModelError: Error, CustomStringConvertible {
  var description: String

  /// Refuses models whose code would not compile or would hide members that Core Data needs.
  static func check(_ model: NSManagedObjectModel) throws {
    let entities = model.entities.filter(\.generatesProperties)
    for entity in entities {
      for property in entity.ownProperties where SwiftName.reservedByCoreData.contains(property.name) {
        throw ModelError(
          description: "Entity '\(entity.entityName)': Core Data reserves the name '\(property.name)'. "
            + "Rename that property.")
      }
    }
    for entity in entities {
      for relationship in entity.ownProperties(as: NSRelationshipDescription.self) {
        guard let problem = relationship.swiftSetProblem else { continue }
        throw ModelError(
          description: "Relationship '\(entity.entityName).\(relationship.name)': \(problem)")
      }
    }
    for (className, sharing) in Dictionary(grouping: entities, by: { $0.ownClassName ?? "" })
    where sharing.count > 1 {
      let names = sharing.map(\.entityName).sorted().joined(separator: ", ")
      throw ModelError(
        description: "The entities \(names) would all generate the class '\(className)'. "
          + "Set the codegen of all but one to Manual/None, or rename their classes.")
    }
    if let known = entities.first(where: { $0.superclassName == $0.ownClassName }) {
      throw ModelError(
        description: "The entity '\(known.entityName)' has the class of its parent entity. "
          + "Set its codegen to Manual/None, or rename its class.")
    }
  }
}
