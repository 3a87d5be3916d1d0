import ManagedObjectModel
import Foundation

/// The options of `addPersistentStore` that concern a SQLite store.
package struct StoreOptions {
  let isReadOnly: Bool
  let timeoutMilliseconds: Int32
  /// Sorted by name, so that opening a store is deterministic.
  let pragmas: [(name: String, value: String)]
  let vacuums: Bool
  let analyzes: Bool
  let ignoresVersions: Bool
  /// Whether a damaged WAL is read up to its first wrong frame instead of being refused.
  let readsDamagedWAL: Bool
  /// Whether the store is read to be written to afterwards, so that a WAL is refused only if the writer refuses it.
  let readsBeforeWriting: Bool
  /// Whether a WAL that the store had when it was opened stays if nothing is committed.
  let keepsWALUntilCommit: Bool
  /// Whether a store is read as one of the model's version without its metadata, which can't be used.
  let ignoresMetadata: Bool
  let allowsIncompleteSchema: Bool
  /// Whether history is tracked; nil for what the store shows.
  let tracksHistory: Bool?
  /// Whether large values are written into the rows instead of to files.
  let keepsLargeValues: Bool
  /// The maximum number of concurrent reading connections in addition to the writing one.
  let readersMax: Int

  package static let timeoutSecondsDefault = 10.0
  static let readersMaxDefault = 4
  package static let readsDamagedWALKey = "OpenCoreDataReadsDamagedWALOption"
  package static let readsBeforeWritingKey = "OpenCoreDataReadsBeforeWritingOption"
  package static let ignoresMetadataKey = "OpenCoreDataIgnoresMetadataOption"
  package static let keepsLargeValuesKey = "OpenCoreDataKeepsLargeValuesOption"
  package static let keepsWALUntilCommitKey = "OpenCoreDataKeepsWALUntilCommitOption"

  init(_ options: [AnyHashable: Any]?) throws {
    func isOn(_ key: String) -> Bool { (options?[key] as? NSNumber)?.boolValue ?? (options?[key] as? Bool) ?? false }
    isReadOnly = isOn(NSReadOnlyPersistentStoreOption)
    vacuums = isOn(NSSQLiteManualVacuumOption)
    analyzes = isOn(NSSQLiteAnalyzeOption)
    ignoresVersions = isOn(NSIgnorePersistentStoreVersioningOption)
    readsDamagedWAL = isOn(Self.readsDamagedWALKey)
    readsBeforeWriting = isOn(Self.readsBeforeWritingKey)
    keepsWALUntilCommit = isOn(Self.keepsWALUntilCommitKey)
    ignoresMetadata = isOn(Self.ignoresMetadataKey) && isReadOnly
    allowsIncompleteSchema = isOn(OCDIncompleteSchemaOption)
    // Apple takes a dictionary of settings for "on", too.
    let tracking = options?[NSPersistentHistoryTrackingKey]
    tracksHistory = tracking == nil ? nil : isOn(NSPersistentHistoryTrackingKey) || tracking is [AnyHashable: Any]
    keepsLargeValues = isOn(Self.keepsLargeValuesKey)
    let poolSize = (options?[NSPersistentStoreConnectionPoolMaxSizeKey] as? NSNumber)?.intValue
    readersMax = max(1, poolSize ?? Self.readersMaxDefault)
    let seconds =
      (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? Self.timeoutSecondsDefault
    timeoutMilliseconds = Int32(clamping: Int(max(0, min(seconds, 1e6)) * 1000))
    var pragmas: [(name: String, value: String)] = []
    for (key, value) in (options?[NSSQLitePragmasOption] as? NSDictionary) ?? [:] {
      let (name, text) = ("\(key)", "\(value)")
      // Pragmas can't be bound; the interpolated text must be a word or a number.
      guard (name + text).allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }) else {
        throw NSError.coreData(.open, "The pragma \(name) = \(text) is not a name and a word or number.")
      }
      pragmas.append((name, text))
    }
    self.pragmas = pragmas.sorted { $0.name < $1.name }
  }
}
