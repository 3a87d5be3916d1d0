import CZlib
import Foundation
import OpenCoreData
import PersistentStores
import StoreInspection
import SurfJournal

/// A store with changed bytes, metadata or model cache is opened, inspected, verified and read, or refused with a
/// reason; none of it changes the file.
enum StoreTarget: FuzzTarget {
  static let name = "stores"
  static let bytesMax = 128
  static let seeds: [[UInt8]] = (0..<8).flatMap { store in (0..<3).map { [UInt8(store), UInt8($0), 1, 0, 7] } }

  private static let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("fuzz-\(ProcessInfo.processInfo.processIdentifier)", isDirectory: true)

  private static let originals: [Data] = {
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return [try? made()].compactMap { $0 } + SharedStores.stores
  }()

  static func run(_ input: inout FuzzInput) {
    let file = folder.appendingPathComponent("store.sqlite")
    for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + ending) }
    guard let original = originals.isEmpty ? nil : input.choice(of: originals) else { broken("a store can be made") }
    do {
      switch input.number(below: 3) {
      case 0: try changed(original, &input).write(to: file)
      case 1:
        try change("Z_METADATA", column: "Z_PLIST", of: original, at: file, &input) {
          $0
        } into: {
          $0
        }
      default:
        try change("Z_MODELCACHE", column: "Z_CONTENT", of: original, at: file, &input) {
          inflated($0)
        } into: {
          deflated($0)
        }
      }
    } catch { return }
    guard let before = try? Data(contentsOf: file) else { return }
    use(file)
    if (try? Data(contentsOf: file)) != before { broken("reading does not change a store") }
  }

  /// Bytes set at positions that the input names.
  private static func changed(_ data: Data, _ input: inout FuzzInput) -> Data {
    var bytes = Array(data)
    while !input.rest.isEmpty, !bytes.isEmpty {
      let place = Int(input.byte()) << 16 | Int(input.byte()) << 8 | Int(input.byte())
      bytes[place % bytes.count] = input.byte()
    }
    return Data(bytes)
  }

  private static func change(
    _ table: String, column: String, of original: Data, at file: URL, _ input: inout FuzzInput,
    from unpack: (Data) -> Data, into pack: (Data) -> Data
  ) throws {
    try original.write(to: file)
    let connection = try SQLiteConnection(path: file.path, mode: .readWrite)
    defer { connection.close() }
    guard case .blob(let content)? = try connection.rows("SELECT \(column) FROM \(table)").first?.first else { return }
    try connection.run("UPDATE \(table) SET \(column) = ?", [.blob(pack(changed(unpack(content), &input)))])
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  private static func inflated(_ data: Data) -> Data {
    var stream = z_stream()
    inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { inflateEnd(&stream) }
    return output(of: &stream, data, bytesMax: 1 << 20) { inflate(&$0, Z_FINISH) }
  }

  private static func deflated(_ data: Data) -> Data {
    var stream = z_stream()
    deflateInit2_(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    return output(of: &stream, data, bytesMax: data.count + 1024) { deflate(&$0, Z_FINISH) }
  }

  private static func output(
    of stream: inout z_stream, _ data: Data, bytesMax: Int, _ run: (inout z_stream) -> Int32
  ) -> Data {
    var input = Array(data)
    var output = [UInt8](repeating: 0, count: bytesMax)
    input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(output.count)
        _ = run(&stream)
      }
    }
    return Data(output.prefix(Int(stream.total_out)))
  }

  // MARK: Use

  private static func use(_ file: URL) {
    let embedded = [CoreDataStack.modelName]
    do { _ = try StoreInspection(storeAt: file, embeddedModels: embedded).text() } catch { check(error) }
    do { _ = try StoreVerification(storeAt: file, embeddedModels: embedded).text() } catch { check(error) }
    do {
      let found = try StoreModel.find(forStoreAt: file, file: nil, embedded: embedded)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: found.model)
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: file,
        options: [
          NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: found.origin == .tables,
        ])
      defer { try? coordinator.remove(store) }
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        for entity in found.model.entities {
          let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
          request.fetchLimit = 50
          for object in try context.fetch(request) {
            for name in entity.attributesByName.keys { _ = object.value(forKey: name) }
          }
        }
      }
    } catch { check(error) }
  }

  private static func check(_ error: any Error) {
    if (error as NSError).localizedDescription.isEmpty { broken("a refused store has a reason") }
  }

  /// A store of the journal with three entries.
  private static func made() throws -> Data {
    let file = folder.appendingPathComponent("made.sqlite")
    guard let model = try? StoreModel.find(forStoreAt: nil, file: nil, embedded: [CoreDataStack.modelName]).model else {
      return Data()
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for number in 0..<3 {
        let entry = NSEntityDescription.insertNewObject(forEntityName: "JournalEntry", into: context)
        entry.setValue("Rincon \(number)", forKey: "location")
        entry.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "date")
      }
      try context.save()
    }
    try coordinator.remove(store)
    return try Data(contentsOf: file)
  }
}
