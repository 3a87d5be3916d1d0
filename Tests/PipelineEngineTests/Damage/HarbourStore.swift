import Foundation
import OpenCoreData
import TestSupport

/// A store with every kind of relationship, some hundred rows and a log of several transactions, as files in the states
/// that a running and a closed program leave.
struct HarbourStore {
  /// The endings of a store's files and their contents.
  typealias Files = [String: Data]

  static let entities = ["Beach", "Photo", "Surfer"]
  static let transactions = 4
  /// The name of the store's file in the folder of a copy.
  static let name = "harbour.sqlite"

  /// The file, the -wal and the -shm after each transaction in the log, the first before them.
  let states: [Files]
  /// The file alone, with all transactions.
  let closed: Files

  /// Made once, and another one whose rows differ.
  static let one = Result { try HarbourStore(named: "Rincon") }
  static let other = Result { try HarbourStore(named: "Malibu") }

  static func model() throws -> NSManagedObjectModel { try .load(xml: Data(xml.utf8)) }

  private init(named name: String) throws {
    let folder = try TemporaryFolder()
    func read(_ file: String) -> Files {
      Dictionary(
        uniqueKeysWithValues: ["", "-wal", "-shm"].compactMap { ending in
          (try? folder.data(file + ending)).map { (ending, $0) }
        })
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try Self.model())
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file(Self.name))
    try coordinator.remove(store)
    try Programs.python(Self.filling, Self.name, name, "\(Self.transactions)", in: folder)
    states = (0...Self.transactions).map { read("state\($0)") }
    closed = read(Self.name)
  }

  /// Fills the store, and copies its files after each transaction.
  private static let filling = #"""
    import os, shutil, sqlite3, sys
    file, name, transactions = sys.argv[1], sys.argv[2], int(sys.argv[3])
    store = sqlite3.connect(file, isolation_level=None)
    store.execute("PRAGMA wal_autocheckpoint = 0")

    def fill(numbers):
        store.execute("BEGIN")
        for n in numbers:
            beach = (n, 2 if n % 5 == 0 else 1, f"{name} {n}", n % 6)
            store.execute("INSERT INTO ZBEACH (Z_PK, Z_ENT, Z_OPT, ZNAME, ZRATING) VALUES (?, ?, 1, ?, ?)", beach)
            store.execute("INSERT INTO ZSURFER (Z_PK, Z_ENT, Z_OPT, ZNICKNAME) VALUES (?, 4, 1, ?)",
                (n, f"Surfer {n} of {name}"))
            for surfer in range(max(1, n - 2), n + 1):
                store.execute("INSERT INTO Z_1SURFERS (Z_1BEACHES, Z_4SURFERS) VALUES (?, ?)", (n, surfer))
            for place in (0, 1):
                image = b"\x01" + bytes(i * n % 256 for i in range(60))
                store.execute("INSERT INTO ZPHOTO (Z_PK, Z_ENT, Z_OPT, ZBEACH, Z1_BEACH, ZTAKEN, ZIMAGE) "
                    "VALUES (?, 3, 1, ?, ?, ?, ?)", (2 * n + place, n, beach[1], n * 100.5 + place, image))
        store.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME IN ('Beach', 'Surfer')", (n,))
        store.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = 'Photo'", (2 * n + 1,))
        store.execute("COMMIT")

    def copy(state):
        for ending in ("", "-wal", "-shm"):
            shutil.copyfile(file + ending, f"state{state}{ending}")

    fill(range(1, 91))
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copy(0)
    for state in range(1, transactions + 1):
        fill(range(84 + state * 7, 91 + state * 7))
        copy(state)
    store.close()
    """#

  private static let xml = """
    <model>
      <entity name="Beach">
        <attribute name="name" attributeType="String"/>
        <attribute name="rating" attributeType="Integer 16" optional="YES"/>
        <relationship name="photos" toMany="YES" optional="YES" destinationEntity="Photo" inverseName="beach"
          inverseEntity="Photo"/>
        <relationship name="surfers" toMany="YES" optional="YES" destinationEntity="Surfer" inverseName="beaches"
          inverseEntity="Surfer"/>
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
        <relationship name="beach" maxCount="1" optional="YES" destinationEntity="Beach" inverseName="photos"
          inverseEntity="Beach"/>
      </entity>
      <entity name="Surfer">
        <attribute name="nickname" attributeType="String" optional="YES"/>
        <relationship name="beaches" toMany="YES" optional="YES" destinationEntity="Beach" inverseName="surfers"
          inverseEntity="Beach"/>
      </entity>
    </model>
    """

  /// Writes the model where the commands' code can read it.
  static func writeModel(in folder: TemporaryFolder) throws -> String {
    try folder.makeFolder("Harbour.xcdatamodel")
    return try folder.write(xml, to: "Harbour.xcdatamodel/contents").replacing("/contents", with: "")
  }
}
