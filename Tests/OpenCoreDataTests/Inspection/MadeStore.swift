import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import StoreInspection

/// A store with every kind of relationship, made by this library and filled by the sqlite3 shell, to be damaged.
final class MadeStore {
  let folder: URL
  private let temporary: TemporaryFolder
  let url: URL
  let modelURL: URL

  init() throws {
    temporary = try TemporaryFolder()
    folder = temporary.url
    url = folder.appendingPathComponent("Made.sqlite")
    modelURL = folder.appendingPathComponent("Made.xcdatamodel")
    try FileManager.default.createDirectory(at: modelURL, withIntermediateDirectories: true)
    try Data(Self.xml.utf8).write(to: modelURL.appendingPathComponent("contents"))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try .load(contentsOf: modelURL))
    let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    try coordinator.remove(store)
    try shell(Self.rows)
  }

  func inspect(tablePurposes: [String: String] = [:]) throws -> StoreInspection {
    try StoreInspection(storeAt: url, modelFile: modelURL, tablePurposes: tablePurposes)
  }

  func verify() throws -> StoreVerification { try StoreVerification(storeAt: url, modelFile: modelURL) }

  /// The metadata's property list after `change`.
  func metadata(_ change: (inout [String: Any]) -> Void) throws -> Data {
    var metadata = try SQLiteStore.metadata(at: url, options: nil)
    metadata[NSStoreUUIDKey] = nil
    change(&metadata)
    return try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
  }

  @discardableResult
  func shell(_ sql: String) throws -> String {
    try Programs.sqlite(url.path, sql)
  }

  /// Another version of the model.
  func model(replacing text: String, _ other: String) throws -> URL {
    let version = folder.appendingPathComponent("Other.xcdatamodel")
    try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    try Data(Self.xml.replacingOccurrences(of: text, with: other).utf8)
      .write(to: version.appendingPathComponent("contents"))
    return version
  }

  /// Writes noise over the first page of a table.
  func damagePage(of table: String) throws {
    let page = try #require(
      Int(try shell("SELECT rootpage FROM sqlite_master WHERE name = '\(table)'").trimmingCharacters(in: .newlines)))
    let file = try FileHandle(forWritingTo: url)
    try file.seek(toOffset: UInt64((page - 1) * 4096))
    try file.write(contentsOf: Data(repeating: 0x5A, count: 4096))
    try file.close()
  }

  /// Everything in order: verification finds nothing here.
  static let rows = """
    INSERT INTO ZBEACH (Z_PK, Z_ENT, Z_OPT, ZHOME, Z1_HOME, ZNAME, ZCODE) VALUES
      (1, 1, 1, 3, 2, 'Rincon', x'00112233445566778899AABBCCDDEEFF'), (2, 1, 2, NULL, NULL, 'Malibu', NULL),
      (3, 2, 1, NULL, NULL, 'Outer', NULL);
    UPDATE ZBEACH SET ZDEPTH = 2.5 WHERE Z_PK = 3;
    INSERT INTO ZPHOTO (Z_PK, Z_ENT, Z_OPT, ZBEACH, Z1_BEACH, Z_FOK_BEACH, ZTAKEN) VALUES
      (1, 3, 1, 1, 1, 2048, 100), (2, 3, 1, 1, 1, 4096, 200.5);
    INSERT INTO ZSURFER (Z_PK, Z_ENT, Z_OPT, ZBOARD, ZBOARDER, ZREEF, ZNICKNAME) VALUES
      (1, 4, 1, 2, 2, 3, 'Ann'), (2, 4, 1, 1, 1, NULL, 'Bob');
    INSERT INTO Z_1SURFERS (Z_1BEACHES, Z_4SURFERS) VALUES (1, 1), (1, 2), (3, 1);
    UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Beach';
    UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_NAME IN ('Photo', 'Surfer');
    """

  private static let xml = """
    <model>
      <entity name="Beach">
        <attribute name="name" attributeType="String"/>
        <attribute name="code" attributeType="UUID" optional="YES"/>
        <relationship name="photos" toMany="YES" ordered="YES" optional="YES" destinationEntity="Photo"
          inverseName="beach" inverseEntity="Photo"/>
        <relationship name="surfers" toMany="YES" optional="YES" destinationEntity="Surfer" inverseName="beaches"
          inverseEntity="Surfer"/>
        <relationship name="home" maxCount="1" optional="YES" destinationEntity="Beach"/>
        <uniquenessConstraints>
          <uniquenessConstraint><constraint value="name"/></uniquenessConstraint>
        </uniquenessConstraints>
      </entity>
      <entity name="Reef" parentEntity="Beach">
        <attribute name="depth" attributeType="Double" optional="YES"/>
      </entity>
      <entity name="Photo">
        <attribute name="taken" attributeType="Date" optional="YES"/>
        <attribute name="image" attributeType="Binary" optional="YES" allowsExternalBinaryDataStorage="YES"/>
        <relationship name="beach" maxCount="1" destinationEntity="Beach" inverseName="photos" inverseEntity="Beach"/>
      </entity>
      <entity name="Surfer">
        <attribute name="nickname" attributeType="String"/>
        <relationship name="beaches" toMany="YES" optional="YES" destinationEntity="Beach" inverseName="surfers"
          inverseEntity="Beach"/>
        <relationship name="reef" maxCount="1" optional="YES" destinationEntity="Reef"/>
        <relationship name="board" maxCount="1" optional="YES" destinationEntity="Surfer" inverseName="boarder"
          inverseEntity="Surfer"/>
        <relationship name="boarder" maxCount="1" optional="YES" destinationEntity="Surfer" inverseName="board"
          inverseEntity="Surfer"/>
      </entity>
    </model>
    """
}
