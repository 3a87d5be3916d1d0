import Foundation
import OpenCoreData

/// A class as clients write it by hand, without a model file.
class Person: NSManagedObject, Identifiable {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Person> {
    NSFetchRequest<Person>(entityName: "Person")
  }

  var name: String? {
    get {
      willAccessValue(forKey: "name")
      defer { didAccessValue(forKey: "name") }
      return primitiveValue(forKey: "name") as? String
    }
    set {
      willChangeValue(forKey: "name")
      setPrimitiveValue(newValue, forKey: "name")
      setPrimitiveValue(nil, forKey: "initial")
      didChangeValue(forKey: "name")
    }
  }
  var age: Int16 {
    get { value(forKey: "age") as? Int16 ?? 0 }
    set { setValue(newValue, forKey: "age") }
  }
  var createdAt: Date? { value(forKey: "createdAt") as? Date }
  var id: UUID? {
    get { value(forKey: "id") as? UUID }
    set { setValue(newValue, forKey: "id") }
  }
  /// Computed once and kept in a transient attribute.
  var initial: String? {
    willAccessValue(forKey: "initial")
    defer { didAccessValue(forKey: "initial") }
    if let kept = primitiveValue(forKey: "initial") as? String { return kept }
    let first = name.map { String($0.prefix(1)) }
    setPrimitiveValue(first, forKey: "initial")
    return first
  }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(Date(), forKey: "createdAt")
    setPrimitiveValue(UUID(), forKey: "id")
  }

  override func validateForInsert() throws {
    try super.validateForInsert()
    if name == "Nobody" {
      throw NSError(domain: "Client", code: 7, userInfo: [NSValidationKeyErrorKey: "name"])
    }
  }

  @discardableResult
  static func insert(into context: NSManagedObjectContext, name: String?, age: Int = 0) -> Person {
    let person = Person(context: context)
    person.name = name
    person.age = Int16(age)
    return person
  }
}

extension NSManagedObjectModel {
  /// A model in code, as clients make it where they have no model file.
  static let people: NSManagedObjectModel = {
    let entity = NSEntityDescription()
    entity.name = "Person"
    entity.managedObjectClassName = NSStringFromClass(Person.self)
    let initial = attribute("initial", .stringAttributeType)
    initial.isTransient = true
    let name = attribute("name", .stringAttributeType)
    name.isOptional = false
    let age = attribute("age", .integer16AttributeType)
    age.defaultValue = 0
    entity.properties = [
      name, age, initial, attribute("createdAt", .dateAttributeType), attribute("id", .UUIDAttributeType),
    ]
    entity.uniquenessConstraints = [["id"]]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }()

  private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    return attribute
  }
}
