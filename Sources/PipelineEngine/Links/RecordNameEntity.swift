import ManagedObjectModel
import OpenCoreData

/// An entity of the names that records give themselves: they are parsed and digested like those of stored objects.
enum RecordNameEntity {
  static var entity: NSEntityDescription { model.entities[0] }

  private static let model: NSManagedObjectModel = {
    let name = NSAttributeDescription()
    (name.name, name.attributeType, name.isOptional) = (PipelineDefinition.recordName, .stringAttributeType, true)
    let entity = NSEntityDescription()
    (entity.name, entity.properties) = ("Record", [name])
    let model = NSManagedObjectModel()
    model.entities = [entity]
    model.freeze()
    return model
  }()
}
