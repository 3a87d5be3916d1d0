import Foundation

extension NSMigrationManager {
  /// As `migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)`. (Apple
  /// documentation: migrateStore(from:type:options:mapping:to:type:options:).)
  ///
  /// - Parameters:
  ///   - sourceURL: A store of `sourceModel`.
  ///   - sourceStoreType: `.sqlite`.
  ///   - sourceOptions: As for `addPersistentStore`; only the timeout is used.
  ///   - mapping: An inferred mapping model of the two models.
  ///   - destinationURL: A file that does not exist yet.
  ///   - destinationStoreType: `.sqlite`.
  ///   - destinationOptions: As for `addPersistentStore`; ignored.
  /// - Throws: `NSError` 134110, 134140 (no mapping model), 134150 (the source), 134160 (the destination).
  public func migrateStore(
    from sourceURL: URL, type sourceStoreType: NSPersistentStore.StoreType,
    options sourceOptions: [AnyHashable: Any]? = nil, mapping: NSMappingModel, to destinationURL: URL,
    type destinationStoreType: NSPersistentStore.StoreType, options destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    try migrateStore(
      from: sourceURL, sourceType: sourceStoreType.rawValue, options: sourceOptions, with: mapping,
      toDestinationURL: destinationURL, destinationType: destinationStoreType.rawValue,
      destinationOptions: destinationOptions)
  }
}
