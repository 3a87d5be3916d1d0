import Foundation
import OpenCoreData

/// A session on the water, as a class written by hand.
class SurfSession: NSManagedObject {
  var title: String? {
    get { value(forKey: "title") as? String }
    set { setValue(newValue, forKey: "title") }
  }
  var rating: Int {
    get { (value(forKey: "rating") as? NSNumber)?.intValue ?? 0 }
    set { setValue(newValue, forKey: "rating") }
  }
  var date: Date? {
    get { value(forKey: "date") as? Date }
    set { setValue(newValue, forKey: "date") }
  }
  var spot: NSManagedObject? { value(forKey: "spot") as? NSManagedObject }
}

extension NSManagedObjectModel {
  /// Sessions, each of which may lead to a spot.
  static let sessions: NSManagedObjectModel = {
    let (session, spot) = (NSEntityDescription(), NSEntityDescription())
    (session.name, spot.name) = ("Session", "Spot")
    session.managedObjectClassName = NSStringFromClass(SurfSession.self)
    let (toSpot, toSessions) = (NSRelationshipDescription(), NSRelationshipDescription())
    (toSpot.name, toSpot.destinationEntity, toSpot.maxCount) = ("spot", spot, 1)
    (toSessions.name, toSessions.destinationEntity, toSessions.maxCount) = ("sessions", session, 0)
    (toSpot.inverseRelationship, toSessions.inverseRelationship) = (toSessions, toSpot)
    (toSpot.isOptional, toSessions.isOptional) = (true, true)
    session.properties = [
      attribute("title", .stringAttributeType), attribute("rating", .integer16AttributeType),
      attribute("date", .dateAttributeType), toSpot,
    ]
    spot.properties = [attribute("name", .stringAttributeType), toSessions]
    let model = NSManagedObjectModel()
    model.entities = [session, spot]
    return model
  }()

  private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
    return attribute
  }
}
