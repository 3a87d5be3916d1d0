// Generated from the model SurfJournalModel by modelgen; changes made here are lost.
// swift-format-ignore-file

#if hasFeature(InternalImportsByDefault)
  public import Foundation
  public import OpenCoreData
#else
  import Foundation
  import OpenCoreData
#endif

nonisolated extension JournalEntry {
  public class func fetchRequest() -> NSFetchRequest<JournalEntry> {
    NSFetchRequest<JournalEntry>(entityName: "JournalEntry")
  }

  public var date: Date? {
    get { attributeValue(forKey: "date") }
    set { setAttributeValue(newValue, forKey: "date") }
  }

  public var height: String? {
    get { attributeValue(forKey: "height") }
    set { setAttributeValue(newValue, forKey: "height") }
  }

  public var location: String? {
    get { attributeValue(forKey: "location") }
    set { setAttributeValue(newValue, forKey: "location") }
  }

  public var period: String? {
    get { attributeValue(forKey: "period") }
    set { setAttributeValue(newValue, forKey: "period") }
  }

  public var rating: NSNumber? {
    get { numberValue(forKey: "rating") }
    set { setNumberValue(newValue, forKey: "rating") }
  }

  public var wind: String? {
    get { attributeValue(forKey: "wind") }
    set { setAttributeValue(newValue, forKey: "wind") }
  }
}

nonisolated extension JournalEntry: Identifiable {}
