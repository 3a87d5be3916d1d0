import Foundation

/// Models and entities compare by what they describe. (Apple documentation: isEqual(_:).)
///
/// Relationships lead in circles, so the entities that they lead to are compared by name; a comparison of models compares
/// each of its entities anyway. Code that looks for an entity compares by identity.
extension NSManagedObjectModel {
  func describesTheSame(as other: NSManagedObjectModel) -> Bool {
    self === other
      || entities.count == other.entities.count && versionIdentifiers == other.versionIdentifiers
        && entityNamesByConfiguration.mapValues(Set.init) == other.entityNamesByConfiguration.mapValues(Set.init)
        && fetchRequestTemplates == other.fetchRequestTemplates
        && entitiesByName.allSatisfy { name, entity in
          other.entitiesByName[name].map(entity.describesTheSame) ?? false
        }
  }
}

extension NSEntityDescription {
  func describesTheSame(as other: NSEntityDescription) -> Bool {
    guard self !== other else { return true }
    let indexNames = { (entity: NSEntityDescription) in
      entity.indexes.map { index in [index.name] + index.elements.map { "\($0.propertyName ?? "") \($0.isAscending)" } }
    }
    return name == other.name && managedObjectClassName == other.managedObjectClassName
      && isAbstract == other.isAbstract && superentity?.name == other.superentity?.name
      && Set(subentities.map(\.name)) == Set(other.subentities.map(\.name))
      && renamingIdentifier == other.renamingIdentifier && versionHashModifier == other.versionHashModifier
      && Self.isEqual(userInfo, other.userInfo) && uniquenessConstraintNames == other.uniquenessConstraintNames
      && indexNames(self) == indexNames(other) && ownProperties.count == other.ownProperties.count
      && ownProperties.allSatisfy { property in
        other.propertiesByName[property.name].map(property.describesTheSame) ?? false
      }
  }

  fileprivate static func isEqual(_ left: [AnyHashable: Any]?, _ right: [AnyHashable: Any]?) -> Bool {
    NSDictionary(dictionary: left ?? [:]).isEqual(NSDictionary(dictionary: right ?? [:]))
  }
}

extension NSPropertyDescription {
  fileprivate func describesTheSame(as other: NSPropertyDescription) -> Bool {
    guard type(of: self) == type(of: other), name == other.name, isOptional == other.isOptional,
      isTransient == other.isTransient, renamingIdentifier == other.renamingIdentifier,
      versionHashModifier == other.versionHashModifier, isIndexedBySpotlight == other.isIndexedBySpotlight,
      isStoredInExternalRecord == other.isStoredInExternalRecord,
      NSEntityDescription.isEqual(userInfo, other.userInfo), versionHash == other.versionHash
    else { return false }
    switch (self, other) {
    case (let own as NSAttributeDescription, let other as NSAttributeDescription): return own.hasValues(of: other)
    case (let own as NSRelationshipDescription, let other as NSRelationshipDescription): return own.leads(as: other)
    case (let own as NSFetchedPropertyDescription, let other as NSFetchedPropertyDescription):
      guard own.template == other.template else { return false }
      guard let request = own.requestSet else { return other.requestSet == nil }
      return other.requestSet.map(request.describesTheSame) ?? false
    default: return true
    }
  }
}

extension NSAttributeDescription {
  fileprivate func hasValues(of other: NSAttributeDescription) -> Bool {
    let derivations = [self, other].map { ($0 as? NSDerivedAttributeDescription)?.derivationExpressionFormat }
    return attributeType == other.attributeType && attributeValueClassName == other.attributeValueClassName
      && defaultStoredValue == other.defaultStoredValue && valueTransformerName == other.valueTransformerName
      && allowsExternalBinaryDataStorage == other.allowsExternalBinaryDataStorage
      && preservesValueInHistoryOnDeletion == other.preservesValueInHistoryOnDeletion
      && allowsCloudEncryption == other.allowsCloudEncryption && constraints == other.constraints
      && derivations[0] == derivations[1]
  }
}

extension NSRelationshipDescription {
  fileprivate func leads(as other: NSRelationshipDescription) -> Bool {
    destinationEntity?.name == other.destinationEntity?.name
      && inverseRelationship?.name == other.inverseRelationship?.name && minCount == other.minCount
      && maxCount == other.maxCount && isOrdered == other.isOrdered && deleteRule == other.deleteRule
  }
}
