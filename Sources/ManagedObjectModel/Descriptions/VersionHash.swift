import Foundation

/// Core Data's version hashes, version 3: SHA-256 over the parts of a description that a store depends on.
///
/// The common part of all properties is hashed first. Attributes and relationships hash that digest with their own
/// bytes, and entities hash the digests of their properties (docs/coredata-format.md, "Version hashes"). Names, types,
/// counts and optionality are included; default values, delete rules, bounds, class names, indexes and user info are
/// not. The hash of a derived attribute depends only on its derivation.
package enum VersionHash {
  static func hash(of property: NSPropertyDescription) -> Data {
    if let expression = (property as? NSDerivedAttributeDescription)?.compiledDerivation {
      return Data(SHA256.digest(of: Array(expression.utf8)))
    }
    let common = SHA256.digest(of: commonBytes(of: property))
    var bytes = common
    switch property {
    case let attribute as NSAttributeDescription:
      append(Int32(attribute.attributeType.rawValue), to: &bytes)
      if attribute.allowsExternalBinaryDataStorage { bytes.append(1) }
      if attribute.preservesValueInHistoryOnDeletion { bytes.append(1) }
    case let relationship as NSRelationshipDescription:
      append(relationship.destinationEntity?.name, to: &bytes)
      if relationship.inverseRelationship !== relationship {
        append(relationship.inverseRelationship?.name, to: &bytes)
      }
      append(Int32(clamping: relationship.maxCount), to: &bytes)
      append(Int32(clamping: relationship.minCount), to: &bytes)
      if relationship.isOrdered { bytes += [1, 0] }
    default:
      return Data(common)
    }
    return Data(SHA256.digest(of: bytes))
  }

  static func hash(of entity: NSEntityDescription) -> Data {
    var bytes: [UInt8] = []
    append(entity.name, to: &bytes)
    bytes.append(entity.isAbstract ? 1 : 0)
    if let superentity = entity.superentity { bytes += superentity.versionHash }
    let hashed = entity.propertiesByName.values
      .filter { !$0.isTransient && !($0 is NSFetchedPropertyDescription) }
      .sorted { String.byteOrder($0.name, $1.name) }
    for property in hashed { bytes += property.versionHash }
    append(entity.versionHashModifier, to: &bytes)
    let constraints = entity.uniquenessConstraintNames.map { $0.joined(separator: ".") }
    for constraint in constraints.sorted(by: String.byteOrder) { append(constraint, to: &bytes) }
    return Data(SHA256.digest(of: bytes))
  }

  /// The store metadata's NSStoreModelVersionHashesDigest, computed from entities and their hashes.
  package static func digest(of hashes: [String: Data]) -> String {
    var bytes: [UInt8] = []
    for name in hashes.keys.sorted(by: String.byteOrder) {
      bytes += name.utf8
      bytes += hashes[name] ?? Data()
    }
    return Data(SHA512.digest(of: bytes)).base64EncodedString()
  }

  /// The store metadata's NSStoreModelVersionChecksumKey, computed from entities and their hashes.
  package static func checksum(of hashes: [String: Data]) -> String {
    let bytes = hashes.keys.sorted(by: String.byteOrder).flatMap { hashes[$0] ?? Data() }
    return Data(SHA256.digest(of: bytes)).base64EncodedString()
  }

  private static func commonBytes(of property: NSPropertyDescription) -> [UInt8] {
    var bytes = Array(property.name.utf8)
    bytes.append((property.isOptional ? 1 : 0) | (property.isTransient ? 2 : 0))
    bytes.append(0)
    append(property.versionHashModifier, to: &bytes)
    return bytes
  }

  private static func append(_ text: String?, to bytes: inout [UInt8]) {
    if let text { bytes += text.utf8 }
  }

  private static func append(_ number: Int32, to bytes: inout [UInt8]) {
    let pattern = UInt32(bitPattern: number)
    for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: pattern >> shift)) }
  }
}

extension NSManagedObjectModel {
  /// The 32-byte version hash of every entity, by entity name.
  public var entityVersionHashesByName: [String: Data] { entitiesByName.mapValues(\.versionHash) }

  /// SHA-256 over all version hashes, in base64: one string that identifies this version of the model.
  public var versionChecksum: String { VersionHash.checksum(of: entityVersionHashesByName) }

  /// Whether a store with `metadata` was written with the entities of this model's configuration (nil: of the whole
  /// model) in their current form: the same entities with the same version hashes. An entity whose hash can't be
  /// computed here, because of a composite attribute or an unusual derivation, is compared by name.
  public func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard entities(forConfigurationName: configuration) != nil,
      let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
    else { return false }
    return ModelCompatibility(stored, self, configuration: configuration).isCompatible
  }
}
