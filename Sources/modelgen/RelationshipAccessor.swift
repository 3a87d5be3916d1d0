import ManagedObjectModel

/// The property of one relationship and, for a to-many one, the methods that change its members: the names and types
/// that Xcode gives them.
struct RelationshipAccessor {
  var relationship: NSRelationshipDescription

  /// The declarations, indented by two spaces.
  var source: String {
    let call = relationship.isToMany ? "RelatedObjects" : "RelatedObject"
    let property = """
        \(access(to: namesObjects ? relationship.destinationEntity : nil))var \
      \(SwiftName.escaped(relationship.name)): \(swiftType)? {
          get { \(relationship.isToMany ? "relatedObjects" : "relatedObject")(forKey: \(key)) }
          set { set\(call)(newValue, forKey: \(key)) }
        }
      """
    return ([property] + (relationship.isToMany ? methods : [])).joined(separator: "\n\n")
  }

  /// Whether the property's type comes from Foundation.
  var isOfFoundation: Bool { relationship.isToMany && !relationship.isSwiftSet || relationship.isOrdered }

  private var key: String { SwiftName.literal(relationship.name) }

  /// `Works` for `works`, as in `addToWorks(_:)`.
  private var capitalized: String { relationship.name.prefix(1).uppercased() + relationship.name.dropFirst() }

  private func access(to entity: NSEntityDescription?) -> String { entity?.access ?? "public " }

  private var swiftType: String {
    if !relationship.isToMany { return objectType }
    if relationship.isSwiftSet { return "Set<\(objectType)>" }
    return relationship.isOrdered ? "NSOrderedSet" : "NSSet"
  }

  /// Whether the property's type has the class of the objects.
  private var namesObjects: Bool { !relationship.isToMany || relationship.isSwiftSet }

  private var objectType: String { relationship.destinationEntity?.objectType ?? "NSManagedObject" }

  // MARK: Members

  private var methods: [String] {
    let single = ["addTo": "addRelatedObjects", "removeFrom": "removeRelatedObjects"].sorted { $0.key < $1.key }
    let members = single.flatMap { name, call in
      [
        method("\(name)\(capitalized)(_ value: \(objectType))", "\(call)([value], forKey: \(key))", ofObjects: true),
        method(
          "\(name)\(capitalized)(_ values: \(swiftType))", "\(call)(values, forKey: \(key))", ofObjects: namesObjects),
      ]
    }
    return members + (relationship.isOrdered ? orderedMethods : [])
  }

  private var orderedMethods: [String] {
    [
      method(
        "insertInto\(capitalized)(_ value: \(objectType), at idx: Int)",
        "insertRelatedObjects([value], at: [idx], forKey: \(key))", ofObjects: true),
      method(
        "removeFrom\(capitalized)(at idx: Int)", "removeRelatedObjects(at: [idx], forKey: \(key))"),
      method(
        "insertInto\(capitalized)(_ values: [\(objectType)], at indexes: NSIndexSet)",
        "insertRelatedObjects(values, at: IndexSet(indexes), forKey: \(key))", ofObjects: true),
      method(
        "removeFrom\(capitalized)(at indexes: NSIndexSet)",
        "removeRelatedObjects(at: IndexSet(indexes), forKey: \(key))"),
      method(
        "replace\(capitalized)(at idx: Int, with value: \(objectType))",
        "replaceRelatedObjects(at: [idx], with: [value], forKey: \(key))", ofObjects: true),
      method(
        "replace\(capitalized)(at indexes: NSIndexSet, with values: [\(objectType)])",
        "replaceRelatedObjects(at: IndexSet(indexes), with: values, forKey: \(key))", ofObjects: true),
    ]
  }

  /// - Parameter ofObjects: Whether a parameter has the class of the objects.
  private func method(_ signature: String, _ call: String, ofObjects: Bool = false) -> String {
    """
      \(access(to: ofObjects ? relationship.destinationEntity : nil))func \(signature) {
        \(call)
      }
    """
  }
}
