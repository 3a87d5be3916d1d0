import ManagedObjectModel
import Foundation

/// The metadata of a store: the contents of Z_METADATA's property list in addition to the client's keys.
package struct StoreMetadata {
  package var storeType = "SQLite" { didSet { found?[NSStoreTypeKey] = storeType } }
  package var versionHashes: [String: Data]
  package var versionIdentifiers: [String]
  /// Base64; nil in files of older frameworks that did not write it.
  package var versionHashesDigest: String?
  package var versionChecksum: String?
  package var frameworkVersion: Int
  /// The clients' keys; all values are property list values.
  package var custom: [String: Any] = [:]

  /// The framework's keys as found in the file: they are written back unchanged, key by key. Nil for a new store.
  private var found: [String: Any]?

  /// The keys of a framework of 2023, the first that writes every key known here.
  package static let currentFrameworkVersion = 1344
  private static let autoVacuumKey = "_NSAutoVacuumLevel"
  private static let hashesVersion = 3

  /// The metadata of a new store for a model's configuration (nil: the whole model).
  package init(model: NSManagedObjectModel, configuration: String? = nil) {
    let entities = model.entities(forConfigurationName: configuration) ?? []
    versionHashes = Dictionary(
      entities.compactMap { entity in entity.name.map { ($0, entity.versionHash) } },
      uniquingKeysWith: { first, _ in first })
    versionHashesDigest = VersionHash.digest(of: versionHashes)
    versionChecksum = VersionHash.checksum(of: versionHashes)
    frameworkVersion = Self.currentFrameworkVersion
    let identifiers = model.versionIdentifiers.compactMap { $0.base as? String }
    versionIdentifiers = identifiers.sorted(by: String.byteOrder)
  }

  /// Reads Z_PLIST.
  ///
  /// - Throws: The reason why it is not a usable property list.
  package init(propertyList data: Data) throws(ArchiveProblem) {
    self.init(dictionary: try PropertyListData.dictionary(data))
  }

  /// Reads a metadata dictionary of a coordinator's client.
  package init(dictionary: [String: Any]) {
    storeType = dictionary[NSStoreTypeKey] as? String ?? "SQLite"
    versionHashes = dictionary[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    versionIdentifiers = dictionary[NSStoreModelVersionIdentifiersKey] as? [String] ?? []
    versionHashesDigest = dictionary[NSStoreModelVersionHashesDigestKey] as? String
    versionChecksum = dictionary[NSStoreModelVersionChecksumKey] as? String
    frameworkVersion =
      (dictionary[NSPersistenceFrameworkVersionKey] as? NSNumber)?.intValue ?? Self.currentFrameworkVersion
    custom = dictionary.filter { !Self.ownKeys.contains($0.key) }
    found = dictionary.filter { Self.ownKeys.contains($0.key) && $0.key != NSStoreUUIDKey }
  }

  private static let ownKeys: Set<String> = [
    NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
    NSStoreModelVersionHashesDigestKey, NSStoreModelVersionChecksumKey, NSPersistenceFrameworkVersionKey,
    NSStoreModelVersionHashesVersionKey, autoVacuumKey,
  ]

  /// Everything as one dictionary, without the store's UUID, which has its own column.
  package var dictionary: [String: Any] {
    if let found { return custom.merging(found) { $1 } }
    var result = custom
    result[NSStoreTypeKey] = storeType
    result[NSStoreModelVersionHashesKey] = versionHashes
    result[NSStoreModelVersionIdentifiersKey] = versionIdentifiers
    result[NSStoreModelVersionHashesVersionKey] = Self.hashesVersion
    result[NSPersistenceFrameworkVersionKey] = frameworkVersion
    result[NSStoreModelVersionHashesDigestKey] = versionHashesDigest
    result[NSStoreModelVersionChecksumKey] = versionChecksum
    // Text, not a number, as in Apple's framework.
    result[Self.autoVacuumKey] = "2"
    return result
  }

  /// The bytes of Z_PLIST: equal metadata gives equal bytes. Throws an NSError (134060) that names the key if a custom
  /// value is not a property list value.
  package func propertyList() throws -> Data { try BinaryPropertyList.data(for: dictionary) }
}
