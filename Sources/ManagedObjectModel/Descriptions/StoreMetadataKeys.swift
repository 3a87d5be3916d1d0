/// Keys of a store's metadata dictionary, with Core Data's names and values.
public let NSStoreTypeKey = "NSStoreType"
/// The key of the store's UUID, a text.
public let NSStoreUUIDKey = "NSStoreUUID"
/// The key of the version hashes of the entities, by name.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// The key of the identifiers of the model version that the store was made with.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// The key of the version of the framework that has written the store.
public let NSPersistenceFrameworkVersionKey = "NSPersistenceFrameworkVersion"
/// Written by newer frameworks: see docs/coredata-format.md, "Z_METADATA".
public let NSStoreModelVersionHashesVersionKey = "NSStoreModelVersionHashesVersion"
/// The key of a digest of all version hashes.
public let NSStoreModelVersionHashesDigestKey = "NSStoreModelVersionHashesDigest"
/// The key of the checksum of the model version.
public let NSStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"
/// The key of the checksum of all entity hashes in a store's metadata. (Apple documentation:
/// NSPersistentStoreModelVersionChecksumKey; its text is the one that stores have.)
public let NSPersistentStoreModelVersionChecksumKey = NSStoreModelVersionChecksumKey
