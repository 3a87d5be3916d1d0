import SystemSupport
import ManagedObjectModel
import Foundation

/// The location of values that are too large for a store's file.
package enum LargeValues {
  /// `.Log_SUPPORT` next to `Log.sqlite`, also for a link that leads to it.
  package static func supportFolder(of store: URL) -> URL {
    let store = StorePath.resolved(store)
    let name = store.deletingPathExtension().lastPathComponent
    return store.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
  }

  /// Lists a folder of large values in the order of names. A folder that does not exist has none.
  package static func names(in folder: URL) throws(SQLiteError) -> [String] {
    do throws(POSIXError) {
      return try FolderNames.sorted(in: folder.path)
    } catch {
      throw SQLiteError(error, "the folder \(folder.path) can't be listed")
    }
  }

  /// Whether the folder serves another store too: one in the same place whose name differs in its extension only.
  private static func isShared(_ store: URL) throws(SQLiteError) -> Bool {
    let own = StorePath.resolved(store)
    let folder = own.deletingLastPathComponent()
    let stem = own.deletingPathExtension().lastPathComponent
    return try names(in: folder).contains { name in
      let other = folder.appendingPathComponent(name)
      guard name != own.lastPathComponent, other.deletingPathExtension().lastPathComponent == stem,
        let file = FileHandle.ofRegularFile(other.path)
      else { return false }
      defer { try? file.close() }
      return (try? file.read(upToCount: header.count)) == header
    }
  }

  /// How every SQLite database begins. (SQLite documentation: "Database File Format", section 1.3.)
  private static let header = Data("SQLite format 3\0".utf8)

  /// Whether the folder may serve another store too, so that it can't be removed.
  static func mayBeShared(_ store: URL) -> Bool { (try? isShared(store)) ?? true }

  /// Refuses to write files for `store` where those of another store are.
  static func checkIsNotShared(_ store: URL) throws {
    let folder = supportFolder(of: store)
    guard mayExist(folder.path) else { return }
    do throws(SQLiteError) {
      if try !isShared(store) { return }
    } catch {
      throw NSError.sqlite(error, .operation, message: "The large values of \(store.path) can't be written")
    }
    throw NSError.coreData(
      .operation,
      "The folder \(folder.path) has the large values of another store, whose name differs from "
        + "\(store.lastPathComponent) in its extension only. Give this store another name or another folder.")
  }

  /// The subfolder that has one file per value.
  package static func valueFolder(of store: URL) -> URL {
    supportFolder(of: store).appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
  }

  /// The subfolder of this library that has one empty file for each value's file whose row is not certain.
  package static func markFolder(of store: URL) -> URL {
    supportFolder(of: store).appendingPathComponent("_OPENCOREDATA_PENDING", isDirectory: true)
  }
}

/// Values of attributes that allow external storage (`allowsExternalBinaryDataStorage`). The first byte in the column
/// says whether the value follows (01) or is in a separate file whose name follows (02, a UUID as text, a NUL).
///
/// Any other first byte is part of the value: programs without support for the marker wrote values unchanged.
struct ExternalData: Sendable {
  /// Nil for an in-memory store, which has no files.
  let store: URL?
  /// Receives values whose files are missing, which are then read as null; nil if such a value is an error.
  let missing: MissingValues?

  /// Larger values are written to files. Apple does not document its limit; what is published of it ranges from 100 KB
  /// to 1 MB, and the one measurement of a current format is 128 KiB (couchbase/couchbase-lite-ios, issue 526). The
  /// mark in each column says where the value is, so that every limit makes a valid store.
  static let inlineBytesMax = 128 * 1024

  private static let followsMark: UInt8 = 1
  private static let fileMark: UInt8 = 2
  /// The marker, the 36 characters of a UUID and a NUL.
  static let referenceLength = 38

  /// The location of the attribute's value, for messages: `Session.photo` of the row with this key.
  package struct Location {
    let attribute: String
    let key: Int64
  }

  // MARK: Reading

  /// The same that notes values in `missing` whose files are missing; nil changes nothing.
  func leavingOut(_ missing: MissingValues?) -> ExternalData {
    missing.map { ExternalData(store: store, missing: $0) } ?? self
  }

  private func file(_ name: String) -> URL? {
    store.map { LargeValues.valueFolder(of: $0).appendingPathComponent(name) }
  }

  /// The value of a column with `bytes`; nil for one that is left out. A file is memory-mapped, so that it uses memory
  /// only when it is accessed.
  func value(of bytes: Data, _ location: @autoclosure () -> Location) throws -> Data? {
    switch bytes.first {
    case Self.followsMark: return Data(bytes.dropFirst())
    case Self.fileMark:
      guard let name = try reference(in: bytes, location()) else { return bytes }
      return try contents(name, location())
    default: return bytes
    }
  }

  /// The same for a packed value whose bytes are at the end of `arena`.
  func value(of cell: ValueCell, _ arena: inout [UInt8], _ location: @autoclosure () -> Location) throws -> ValueCell {
    guard cell.kind == .blob, cell.length > 0 else { return cell }
    switch arena[cell.offset] {
    case Self.followsMark: return ValueCell(.blob, offset: cell.offset + 1, length: cell.length - 1)
    case Self.fileMark:
      guard let name = try reference(in: arena[cell.range], location()) else { return cell }
      guard let data = try contents(name, location()) else { return .null }
      let value = ValueCell(.blob, offset: arena.count, length: data.count)
      arena.append(contentsOf: data)
      return value
    default: return cell
    }
  }

  /// The name of the file that `bytes` refer to; nil if they are a value.
  private func reference(in bytes: some Collection<UInt8>, _ location: Location) throws -> String? {
    guard bytes.count == Self.referenceLength else { return nil }
    guard let name = Self.name(in: bytes) else {
      throw failure(
        at: location,
        "is marked as a separate file, but without a UUID. The store is damaged: restore it from a copy.")
    }
    return name
  }

  /// The file that a column refers to. Only a UUID is a valid name: others could lead out of the folder.
  static func name(in bytes: some Collection<UInt8>) -> String? {
    guard bytes.count == referenceLength, bytes.first == fileMark else { return nil }
    let rest = Array(bytes.dropFirst())
    let text = String(decoding: rest.dropLast(), as: UTF8.self)
    return rest.last == 0 && UUID(uuidString: text) != nil ? text : nil
  }

  private func contents(_ name: String, _ location: Location) throws -> Data? {
    guard let file = file(name), let store else {
      throw failure(at: location, "is in the file \(name), but a store in memory has no folder for it.")
    }
    var status = stat()
    let isThere = lstat(file.path, &status) == 0
    if !isThere, errno == ENOENT, let missing {
      missing.note(MissingValues.Value(attribute: location.attribute, key: location.key, file: file.path))
      return nil
    }
    // A link could lead to any file of the system, and a pipe would never end.
    if isThere, status.st_mode & S_IFMT != S_IFREG {
      throw failure(
        at: location,
        "lies in the file \(file.path), which is not a regular file; links are not followed. Replace it by the file.")
    }
    do {
      return try Data(contentsOf: file, options: .mappedIfSafe)
    } catch {
      throw failure(
        at: location,
        "lies in the file \(file.path), which can't be read: \((error as NSError).reason). Bring the folder "
          + "\(LargeValues.supportFolder(of: store).lastPathComponent) together with the store's file.",
        underlying: error, isMissing: !isThere)
    }
  }

  private func failure(
    at location: Location, _ problem: String, underlying: (any Error)? = nil, isMissing: Bool = false
  ) -> NSError {
    var info: [String: Any] = [:]
    info[NSUnderlyingErrorKey] = underlying
    if isMissing { info[MissingValues.errorKey] = true }
    return .coreData(
      .operation,
      "The value of \(location.attribute) in row \(location.key) of \(store?.path ?? "the store in memory") \(problem)",
      userInfo: info)
  }

  // MARK: Writing

  /// The content of the column with the value itself.
  static func column(for value: StoredValue) -> StoredValue {
    guard case .blob(let data) = value else { return value }
    return .blob(Data([followsMark]) + data)
  }

  /// The content of the column for a value in a file.
  static func column(forFile name: String) -> Data { Data([fileMark]) + Data(name.utf8) + Data([0]) }
}

extension NSAttributeDescription {
  /// Whether a store uses the marker for this attribute's values.
  var mayLieOutside: Bool {
    allowsExternalBinaryDataStorage && !isTransient
      && [.binaryDataAttributeType, .transformableAttributeType].contains(attributeType)
  }
}

/// The slots of a store's entities whose values use the marker.
struct ExternalSlots: Sendable {
  /// By entity number, without empty lists.
  private let slots: [Int: [Int]]
  /// By entity number: the slots of attributes in a uniqueness constraint.
  private let uniqueSlots: [Int: Set<Int>]

  init(_ entities: [Int: NSEntityDescription]) {
    uniqueSlots = entities.mapValues { entity in
      Set(entity.ancestry.flatMap(\.uniquenessConstraintNames).joined().compactMap { entity.slot(named: $0) })
    }
    slots = entities.compactMapValues { entity in
      let found = entity.attributeSlots.indices.filter { entity.attributeSlots[$0].mayLieOutside }
      return found.isEmpty ? nil : found
    }
  }

  var isEmpty: Bool { slots.isEmpty }
  var entityNumbers: [Int] { slots.keys.sorted() }
  func isUnique(_ slot: Int, in number: Int) -> Bool { uniqueSlots[number]?.contains(slot) == true }
  subscript(number: Int) -> [Int] { slots.isEmpty ? [] : slots[number] ?? [] }
}
