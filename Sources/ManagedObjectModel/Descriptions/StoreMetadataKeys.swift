/// Keys of a store's metadata dictionary, with Core Data's names and values.
public let NSStoreTypeKey = "NSStoreType"
public let NSStoreUUIDKey = "NSStoreUUID"
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
public let NSPersistenceFrameworkVersionKey = "NSPersistenceFrameworkVersion"
/// Written by newer frameworks: see docs/coredata-format.md, "Z_METADATA".
public let NSStoreModelVersionHashesVersionKey = "NSStoreModelVersionHashesVersion"
public let NSStoreModelVersionHashesDigestKey = "NSStoreModelVersionHashesDigest"
public let NSStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"
