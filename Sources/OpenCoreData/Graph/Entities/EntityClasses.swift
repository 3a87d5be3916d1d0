import Foundation

/// Connects entities with contexts and with the classes of objects.
extension NSEntityDescription {
  /// The entity of that name in the context's model.
  public class func entity(
    forEntityName name: String, in context: NSManagedObjectContext
  ) -> NSEntityDescription? { context.model?.entitiesByName[name] }

  /// Makes an object of the class that the model names for the entity and inserts it into `context`. Stops the program
  /// for a name that the model does not have, as Apple's framework does.
  @discardableResult
  public class func insertNewObject(
    forEntityName name: String, into context: NSManagedObjectContext
  ) -> NSManagedObject {
    guard let entity = entity(forEntityName: name, in: context) else {
      preconditionFailure(
        "The context's model has no entity \"\(name)\"; it has: "
          + (context.model?.entitiesByName.keys.sorted().joined(separator: ", ") ?? "none, for it has no coordinator")
          + ".")
    }
    return entity.objectClass.init(entity: entity, insertInto: context)
  }
}

extension NSManagedObjectModel {
  /// The entity whose objects are of class `type`. An entity whose class was not found has `NSManagedObject` objects, and
  /// is not what a program asks for by that class.
  func entity(ofClass type: NSManagedObject.Type) -> NSEntityDescription? {
    type == NSManagedObject.self ? nil : entities.first { !$0.isAbstract && $0.objectClass == type }
  }
}

extension NSManagedObject {
  /// The entity whose objects are of this class, in a model of a coordinator or in an embedded model.
  public class func entity() -> NSEntityDescription {
    let embedded = EmbeddedModels.all.lazy.compactMap { NSManagedObjectModel.embedded(named: $0.name) }
    guard
      let found = ModelsInUse.all.lazy.compactMap({ $0.entity(ofClass: self) }).first
        ?? embedded.compactMap({ $0.entity(ofClass: self) }).first
    else {
      preconditionFailure(
        "No model in use has an entity of the class \(self). Check its representedClassName, and that the model's "
          + "coordinator or container is made first.")
    }
    return found
  }
}

extension NSFetchRequestResult where Self: NSManagedObject {
  /// A request for all objects of this class. Generated classes declare their own.
  public static func fetchRequest() -> NSFetchRequest<Self> {
    NSFetchRequest<Self>(entityName: entity().name ?? "")
  }

  /// The same request as `NSFetchRequest<NSFetchRequestResult>`, Apple's type, which batch deletions need. Disfavored,
  /// so that a call without a type annotation uses the typed form.
  @_disfavoredOverload
  public static func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    NSFetchRequest<any NSFetchRequestResult>(entityName: entity().name ?? "")
  }
}
