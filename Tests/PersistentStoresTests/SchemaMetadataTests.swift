import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import PersistentStores

@Suite("Store metadata is a property list that Apple's framework and others read")
struct SchemaMetadataTests {
  private let model: NSManagedObjectModel = {
    let entity = NSEntityDescription()
    entity.name = "Post"
    let model = NSManagedObjectModel()
    model.entities = [entity]
    model.versionIdentifiers = ["2", "1"]
    return model
  }()

  @Test("a new store's metadata has every key")
  func keys() throws {
    let dictionary = StoreMetadata(model: model).dictionary
    #expect(
      dictionary.keys.sorted() == [
        "NSPersistenceFrameworkVersion", "NSStoreModelVersionChecksumKey", "NSStoreModelVersionHashes",
        "NSStoreModelVersionHashesDigest", "NSStoreModelVersionHashesVersion",
        "NSStoreModelVersionIdentifiers",
        "NSStoreType", "_NSAutoVacuumLevel",
      ])
    #expect(dictionary["_NSAutoVacuumLevel"] as? String == "2")
    #expect(dictionary["NSStoreModelVersionIdentifiers"] as? [String] == ["1", "2"])
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: dictionary))
  }

  @Test("written and read back it is the same, with the user's own keys")
  func roundTrip() throws {
    var metadata = StoreMetadata(model: model)
    metadata.custom = ["seed": true, "note": "Ærø", "rows": 5000]
    let read = try StoreMetadata(propertyList: metadata.propertyList())
    #expect(read.versionHashes == metadata.versionHashes)
    #expect(read.versionHashesDigest == metadata.versionHashesDigest)
    #expect(read.versionChecksum == metadata.versionChecksum)
    #expect(read.custom["note"] as? String == "Ærø")
    #expect(read.custom["rows"] as? Int == 5000)
    #expect(read.custom["seed"] as? Bool == true)
    #expect(try read.propertyList() == metadata.propertyList())
  }

  @Test("equal metadata gives equal bytes in every process")
  func deterministic() throws {
    // The key order of a Swift dictionary differs from process to process, so a fixed text is what proves it.
    let list = try BinaryPropertyList.data(
      for: ["b": 1, "a": ["x", "y"], "c": ["k": Data([7])]] as [String: Any])
    let expected = """
      YnBsaXN0MDBRYVFiUWNReFF5ogMEEAFRa0EH0QcI0wABAgUGCQgKDA4QEhUX\
      GRseAAAAAAAAAQEAAAAAAAAACwAAAAAAAAAKAAAAAAAAACU=
      """
    #expect(list.base64EncodedString() == expected)
  }

  @Test("python3's plistlib reads every kind of value")
  func plistlib() throws {
    let values: [String: Any] = [
      "text": "plain", "unicode": "Nazaré 🌊", "yes": true, "no": false, "one": 1, "zero": 0,
      "byte": 255, "short": 65535, "int": 4_294_967_295, "long": Int64.max, "negative": -7,
      "huge": UInt64.max, "real": 0.5, "whole": 2.0, "data": Data((0..<40).map { UInt8($0) }),
      "date": Date(timeIntervalSinceReferenceDate: 86_400), "list": (0..<20).map { "item \($0)" },
      "nested": ["deep": ["deeper": [1, 2]]], "empty": [String: Any](),
      "long text": String(repeating: "x", count: 300),
    ]
    let list = try BinaryPropertyList.data(for: values)
    let program = """
      import plistlib, sys
      d = plistlib.loads(sys.stdin.buffer.read())
      assert list(d) == sorted(d), list(d)
      for k in d: print(k, type(d[k]).__name__, len(d[k]) if hasattr(d[k], '__len__') else d[k])
      """
    let output = try Programs.output(of: ["python3", "-c", program], input: list)
    #expect(
      output.split(separator: "\n").sorted() == [
        "byte int 255", "data bytes 40", "date datetime 2001-01-02 00:00:00", "empty dict 0",
        "huge int 18446744073709551615", "int int 4294967295", "list list 20", "long int 9223372036854775807",
        "long text str 300", "negative int -7", "nested dict 1", "no bool False", "one int 1",
        "real float 0.5",
        "short int 65535", "text str 5", "unicode str 8", "whole float 2.0", "yes bool True", "zero int 0",
      ])
    let back = try PropertyListSerialization.propertyList(from: list, format: nil) as? [String: Any]
    #expect(back?["unicode"] as? String == "Nazaré 🌊")
    #expect(back?["data"] as? Data == values["data"] as? Data)
  }

  @Test("more than 255 objects take wider references")
  func manyObjects() throws {
    let values = Dictionary(uniqueKeysWithValues: (0..<400).map { ("key \($0)", "value \($0)") })
    let list = try BinaryPropertyList.data(for: values)
    #expect(
      try PropertyListSerialization.propertyList(from: list, format: nil) as? [String: String] == values)
  }

  @Test("a value that no property list holds is refused by name")
  func refusal() {
    var metadata = StoreMetadata(model: model)
    metadata.custom = ["link": ["deep": URL(fileURLWithPath: "/")]]
    let error = #expect(throws: NSError.self) { try metadata.propertyList() }
    #expect(error?.localizedDescription.contains("metadata.link.deep") == true)
  }

  @Test(
    "the metadata of Apple's stores is read and written back with the same keys and values",
    .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)),
    arguments: SharedStore.all)
  func realStores(store: SharedStore) throws {
    let original = try store.metadata()
    let written = StoreMetadata(dictionary: original).dictionary
    #expect(NSDictionary(dictionary: original) == NSDictionary(dictionary: written))
  }
}
