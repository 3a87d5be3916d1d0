import CSQLite
import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// A store with links of every kind and images in files, changes of it, and what the sqlite3 shell and the folder say.
///
/// An album orders its pages and owns them. A page has an image and friends, and albums share tags.
struct AlbumStore: Sendable {
  private static let xml = """
    <model>
      <entity name="Album">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="pages" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade"
          destinationEntity="Page" inverseName="album" inverseEntity="Page"/>
        <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="albums"
          inverseEntity="Tag"/>
      </entity>
      <entity name="Page">
        <attribute name="image" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="album" optional="YES" maxCount="1" destinationEntity="Album" inverseName="pages"
          inverseEntity="Album"/>
        <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Page" inverseName="friends"
          inverseEntity="Page"/>
      </entity>
      <entity name="Tag">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="albums" optional="YES" toMany="YES" destinationEntity="Album" inverseName="tags"
          inverseEntity="Album"/>
      </entity>
    </model>
    """

  /// The path of a folder that has the store alone.
  let folder: String
  var file: URL { URL(fileURLWithPath: folder).appendingPathComponent("Albums.sqlite") }
  private var support: URL { URL(fileURLWithPath: folder).appendingPathComponent(".Albums_SUPPORT") }

  /// Larger than what stays in a row.
  static func image(_ number: Int) -> Data { Data(repeating: UInt8(number), count: 131_073 + number) }

  func open() throws -> NSPersistentStoreCoordinator {
    let model = try NSManagedObjectModel.load(xml: Data(Self.xml.utf8))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    return coordinator
  }

  private static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Two albums with three pages each, four of them with images, in pairs of friends, and a tag for both.
  func fill() throws {
    let coordinator = try open()
    defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
    let context = Self.context(coordinator)
    try context.performAndWait {
      let tags = [LinkedGraph.make("Tag", 1, in: context), LinkedGraph.make("Tag", 2, in: context)]
      for album in 1...2 {
        let object = LinkedGraph.make("Album", album, in: context)
        object.setValue(NSSet(array: tags), forKey: "tags")
        let pages = (1...3).map { LinkedGraph.make("Page", album * 10 + $0, in: context) }
        object.setValue(NSOrderedSet(array: pages), forKey: "pages")
        pages[0].setValue(NSSet(array: [pages[1]]), forKey: "friends")
        for page in pages[0...1] {
          page.setValue(Self.image(page.value(forKey: "number") as? Int ?? 0), forKey: "image")
        }
      }
      try context.save()
    }
  }

  // MARK: Changes

  enum Step: String, CaseIterable, Sendable {
    /// Pages change album, order, friends and images; one is new.
    case move
    /// An album takes its pages and their images with it.
    case cascade
    /// Both, in two saves of one transaction.
    case transaction
  }

  /// Makes the change; `watch` gets the writing connection once the store is open and what is to be saved is prepared.
  func take(_ step: Step, watch: (SQLiteConnection) -> Void = { _ in }) throws {
    let coordinator = try open()
    defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
    let context = Self.context(coordinator)
    guard let store = coordinator.rowStores.first as? SQLiteStore else { throw ProgramFailure(description: "no store") }
    let connection = try store.connection()
    try context.performAndWait {
      switch step {
      case .move: try Self.move(context)
      case .cascade: try Self.cascade(context)
      case .transaction: break
      }
      watch(connection)
      guard step == .transaction else { return try context.save() }
      try coordinator.beginTransaction()
      try Self.move(context)
      try context.save()
      try Self.cascade(context)
      try context.save()
      try coordinator.commitTransaction()
    }
  }

  private static func move(_ context: NSManagedObjectContext) throws {
    func page(_ number: Int) throws -> NSManagedObject { try LinkedGraph.find("Page", number, in: context) }
    let album = try LinkedGraph.find("Album", 2, in: context)
    let pages = album.mutableOrderedSetValue(forKey: "pages")
    pages.exchangeObject(at: 0, withObjectAt: 2)
    pages.insert(try page(11), at: 1)
    let new = LinkedGraph.make("Page", 29, in: context)
    new.setValue(image(29), forKey: "image")
    pages.add(new)
    try page(11).setValue(image(99), forKey: "image")
    try page(21).setValue(nil, forKey: "image")
    try page(23).setValue(image(23), forKey: "image")
    try page(22).setValue(NSSet(array: [page(12), new]), forKey: "friends")
    album.setValue(NSSet(array: [try LinkedGraph.find("Tag", 2, in: context)]), forKey: "tags")
  }

  private static func cascade(_ context: NSManagedObjectContext) throws {
    context.delete(try LinkedGraph.find("Album", 1, in: context))
  }

  // MARK: What is there

  /// All rows, with images by their content; names of files differ from run to run.
  func rows() throws -> String {
    let rows = try sqlite(
      file,
      """
      PRAGMA integrity_check; SELECT * FROM ZALBUM; SELECT * FROM ZTAG; SELECT * FROM Z_1TAGS ORDER BY 1, 2;
      SELECT * FROM Z_2FRIENDS ORDER BY 1, 2; SELECT * FROM Z_PRIMARYKEY;
      SELECT Z_PK, Z_OPT, ZNUMBER, ZALBUM, Z_FOK_ALBUM FROM ZPAGE
      """)
    let images = try named().sorted { $0.key < $1.key }.map { key, name in
      let data = try Data(contentsOf: support.appendingPathComponent("_EXTERNAL_DATA/\(name)"))
      try #require(data == Self.image(Int(data[0])), "the image of \(key)")
      return "\(key): \(data[0])"
    }
    return rows + "\n" + images.joined(separator: "\n")
  }

  /// The names of the files by the keys of the rows that name them.
  private func named() throws -> [Int: String] {
    let lines = try sqlite(
      file, "SELECT Z_PK || ' ' || CAST(substr(ZIMAGE, 2, 36) AS TEXT) FROM ZPAGE WHERE ZIMAGE IS NOT NULL")
    return Dictionary(
      uniqueKeysWithValues: try lines.split(separator: "\n").map { line in
        let parts = line.split(separator: " ")
        return (try #require(Int(parts[0])), String(parts[1]))
      })
  }

  /// Whether each file belongs to a row and no mark is left.
  func hasNoLeftovers() throws -> Bool {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: support.path + "/_EXTERNAL_DATA")) ?? []
    let marks = FileManager.default.fileExists(atPath: support.path + "/_OPENCOREDATA_PENDING")
    return try !marks && files.sorted() == named().values.sorted()
  }
}
