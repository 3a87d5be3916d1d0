import Foundation

/// Between entities, contexts and the classes of objects.
extension NSEntityDescription {
  /// The class that the model names for objects of this entity, `NSManagedObject` where it can't be found.
  var objectClass: NSManagedObject.Type { layout.objectClass ?? NSManagedObject.self }

  /// The entity of that name in the context's model.
  public class func entity(
    forEntityName name: String, in context: NSManagedObjectContext
  ) -> NSEntityDescription? { context.model?.entitiesByName[name] }

  /// Makes an object of the class that the model names for the entity and inserts it into `context`. A name that
  /// the model does not have is a programmer's error, as in Apple's framework.
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
  /// The entity whose objects are of class `type`.
  func entity(ofClass type: NSManagedObject.Type) -> NSEntityDescription? {
    entities.first { !$0.isAbstract && $0.objectClass == type }
  }
}

extension NSManagedObject {
  /// The entity whose objects are of this class, in a model embedded in the program.
  public class func entity() -> NSEntityDescription {
    let models = EmbeddedModels.all.lazy.compactMap { NSManagedObjectModel.embedded(named: $0.name) }
    guard let model = models.first(where: { $0.entity(ofClass: Self.self) != nil }),
      let found = model.entity(ofClass: Self.self)
    else {
      preconditionFailure("No embedded model has an entity of the class \(Self.self).")
    }
    return found
  }
}
