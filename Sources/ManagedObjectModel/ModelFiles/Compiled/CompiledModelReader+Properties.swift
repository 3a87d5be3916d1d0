import Foundation

extension CompiledModelReader {
  mutating func property(
    named name: String, _ object: KeyedArchive.Object, of entity: NSEntityDescription
  ) -> NSPropertyDescription? {
    let subject = "'\(entity.name ?? "").\(name)'"
    let property: NSPropertyDescription
    if object.values["NSAttributeType"] != nil {
      property = attribute(object, subject)
    } else if object.values["NSMaxCount"] != nil || object.className == "NSRelationshipDescription" {
      property = relationship(object)
    } else if object.className == "NSFetchedPropertyDescription" {
      let fetched = NSFetchedPropertyDescription()
      fetched.template = template(fetchRequest(of: object), named: name, subject)
      property = fetched
    } else {
      note("\(subject) is a \(object.className), which is an unknown class; it is left out.")
      incompleteEntityNames.insert(entity.name ?? "")
      return nil
    }
    property.name = name
    property.isOptional = archive.flag(object.values["NSIsOptional"])
    property.isTransient = archive.flag(object.values["NSIsTransient"])
    property.isIndexedBySpotlight = archive.flag(object.values["NSIndexedBySpotlight"])
    property.isStoredInExternalRecord = archive.flag(object.values["NSIsStoredInTruth"])
    property.versionHashModifier = nonEmpty(object.values["NSVersionHashModifier"])
    property.explicitRenamingIdentifier = renamingIdentifier(object, name: name)
    property.userInfo = userInfo(object)
    return property
  }

  // MARK: Attributes

  /// The bits of an attribute's flags.
  private enum Flag {
    static let hasMaximum = 1
    static let hasMinimum = 2
    static let isExternal = 4
    static let isKeptInHistory = 16
  }

  private mutating func attribute(_ object: KeyedArchive.Object, _ subject: String) -> NSAttributeDescription {
    let attribute: NSAttributeDescription
    if object.className == "NSDerivedAttributeDescription" {
      let derived = NSDerivedAttributeDescription()
      derived.derivationExpressionFormat = predicates.expression(object.values["NSDerivationExpression"])?.formatText
      if derived.derivationExpressionFormat == nil { note("The derivation of \(subject) can't be read.") }
      attribute = derived
    } else {
      attribute = NSAttributeDescription()
    }
    let number = archive.integer(object.values["NSAttributeType"]) ?? 0
    if let type = UInt(exactly: number).flatMap(NSAttributeType.init(rawValue:)) {
      attribute.attributeType = type
    } else {
      note("\(subject) has the unknown type \(number).")
    }
    if attribute.attributeType == .compositeAttributeType {
      note("\(subject) is a composite attribute, whose elements are not read.")
    }
    if attribute.attributeValueClassName == nil {
      attribute.attributeValueClassName = nonEmpty(object.values["NSAttributeValueClassName"])
    }
    attribute.valueTransformerName = nonEmpty(object.values["NSValueTransformerName"])
    let flags = archive.integer(object.values["NSFlagsKey"]) ?? 0
    attribute.allowsExternalBinaryDataStorage = flags & Flag.isExternal != 0
    attribute.preservesValueInHistoryOnDeletion = flags & Flag.isKeptInHistory != 0
    attribute.allowsCloudEncryption = archive.flag(object.values["NSAllowsCloudEncryption"])
    attribute.defaultValue = defaultValue(
      object.values["NSDefaultValue"], type: attribute.attributeType, subject: subject)
    attribute.constraints = constraints(of: attribute, from: object, flags: flags, subject: subject)
    return attribute
  }

  private mutating func defaultValue(_ value: ArchiveValue?, type: NSAttributeType, subject: String) -> Any? {
    guard archive.resolved(value) != .null else { return nil }
    if let archived = archive.foundationValue(value), let typed = Self.value(archived, type) { return typed }
    note("The default value of \(subject) does not have its type, or has an unknown class; it is left out.")
    return nil
  }

  /// An archived value as the class that `NSAttributeDescription.defaultValue` uses for the type.
  private static func value(_ value: Any, _ type: NSAttributeType) -> Any? {
    switch type {
    case .integer16AttributeType: integer(value).flatMap(Int16.init(exactly:)).map { NSNumber(value: $0) }
    case .integer32AttributeType: integer(value).flatMap(Int32.init(exactly:)).map { NSNumber(value: $0) }
    case .integer64AttributeType: integer(value).map { NSNumber(value: $0) }
    case .booleanAttributeType: integer(value).map { NSNumber(value: $0 != 0) }
    case .doubleAttributeType: real(value).map { NSNumber(value: $0) }
    case .floatAttributeType: real(value).map { NSNumber(value: Float($0)) }
    case .decimalAttributeType: decimal(value).map { NSDecimalNumber(decimal: $0) }
    case .stringAttributeType: value as? String
    case .dateAttributeType: value as? Date
    case .UUIDAttributeType: value as? UUID
    case .URIAttributeType: value as? URL ?? (value as? String).flatMap { URL(string: $0) }
    case .binaryDataAttributeType, .transformableAttributeType: value as? Data
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: nil
    }
  }

  private static func integer(_ value: Any) -> Int64? {
    switch value {
    case let flag as Bool: flag ? 1 : 0
    case let number as Int64: number
    case let number as Double: Int64(exactly: number)
    case let number as Decimal: Int64(exactly: NSDecimalNumber(decimal: number).doubleValue)
    default: nil
    }
  }

  private static func real(_ value: Any) -> Double? {
    switch value {
    case let number as Double: number
    case let number as Decimal: NSDecimalNumber(decimal: number).doubleValue
    default: integer(value).map(Double.init)
    }
  }

  private static func decimal(_ value: Any) -> Decimal? {
    switch value {
    case let number as Decimal: number
    // Converted through its digits: 0.1 then is 0.1, not the nearest binary fraction.
    case let number as Double: Decimal(string: "\(number)")
    default: integer(value).map { Decimal($0) }
    }
  }

  private mutating func constraints(
    of attribute: NSAttributeDescription, from object: KeyedArchive.Object, flags: Int, subject: String
  ) -> AttributeConstraints {
    var made = ArchivedConstraints(attribute)
    let archived = archive.members(object.values["NSValidationPredicates"]) ?? []
    let warnings = archive.members(object.values["NSValidationWarnings"]) ?? []
    var kept: [(predicate: NSPredicate, warning: String)] = []
    for (number, value) in archived.enumerated() {
      let predicate = predicates.predicate(value)
      if made.add(predicate) { continue }
      if let checked = predicate?.validation(of: attribute) {
        kept.append((checked, warnings.indices.contains(number) ? archive.text(warnings[number]) ?? "" : ""))
      } else {
        note("A validation predicate of \(subject) can't be read and will not be checked.")
      }
    }
    attribute.setValidationPredicates(kept.map(\.predicate), withValidationWarnings: kept.map(\.warning))
    // Newer compilers write bounds in addition to the predicates; they are used if there are no predicates.
    for (flag, operation, key) in [
      (Flag.hasMinimum, PredicateOperator.greaterOrEqual, "NSMinValueName"),
      (Flag.hasMaximum, PredicateOperator.lessOrEqual, "NSMaxValueName"),
    ] where flags & flag != 0 && archived.isEmpty {
      made.addBound(operation, archive.resolved(object.values[key]))
    }
    return made.constraints
  }

  // MARK: Relationships

  private func relationship(_ object: KeyedArchive.Object) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    // Models created in code may use -1 for no limit, and the hash includes that value.
    relationship.maxCount = archive.integer(object.values["NSMaxCount"]) ?? 1
    relationship.minCount = archive.integer(object.values["NSMinCount"]) ?? 0
    relationship.isOrdered = archive.flag(object.values["NSIsOrdered"])
    let rule = archive.integer(object.values["NSDeleteRule"]).flatMap(UInt.init(exactly:))
    relationship.deleteRule = rule.flatMap(NSDeleteRule.init(rawValue:)) ?? .nullifyDeleteRule
    return relationship
  }

  /// Setting destinations before inverses would need two passes over all entities. Instead an inverse is looked up by
  /// its name in the destination, whose properties all exist.
  mutating func connectRelationships(of object: KeyedArchive.Object, _ entity: NSEntityDescription) {
    for (key, value) in archive.entries(object.values["NSProperties"]) ?? [] {
      guard let part = archive.object(value) else { continue }
      let name = nonEmpty(part.values["NSPropertyName"]) ?? key
      let own = entity.ownProperties.first { $0.name == name }
      guard let relationship = own as? NSRelationshipDescription, relationship.destinationEntity == nil else {
        continue
      }
      let subject = "'\(entity.name ?? "").\(name)'"
      guard
        let destination = self.entity(part.values["NSDestinationEntity"])
          ?? self.entity(part.values["_NSDestinationEntityName"])
      else {
        note("\(subject) leads to an entity that the model lacks; it is left out.")
        incompleteEntityNames.insert(entity.name ?? "")
        entity.properties = entity.ownProperties.filter { $0 !== relationship }
        continue
      }
      relationship.destinationEntity = destination
      let inverseObject = archive.object(part.values["NSInverseRelationship"])
      guard
        let inverseName = nonEmpty(part.values["_NSInverseRelationshipName"])
          ?? inverseObject.flatMap({ nonEmpty($0.values["NSPropertyName"]) })
      else { continue }
      relationship.inverseRelationship = destination.propertiesByName[inverseName] as? NSRelationshipDescription
      if relationship.inverseRelationship == nil {
        note("The inverse '\(inverseName)' of \(subject) is not in '\(destination.name ?? "")'.")
      }
    }
  }
}
