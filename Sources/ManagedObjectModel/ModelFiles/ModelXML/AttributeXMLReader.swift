import Foundation

/// Reads one `attribute` element: type, typed default, bounds.
package struct AttributeXMLReader {
  let file: URL?
  let node: XMLElementNode
  let entity: String

  func read() throws -> NSAttributeDescription {
    let attribute: NSAttributeDescription
    if node.flag("derived") {
      let derived = NSDerivedAttributeDescription()
      derived.derivationExpressionFormat = node.text("derivationExpression")
      attribute = derived
    } else {
      attribute = NSAttributeDescription()
    }
    attribute.name = node.text("name") ?? ""
    attribute.attributeType = try type()
    if let custom = node.text("customClassName") { attribute.attributeValueClassName = custom }
    attribute.valueTransformerName = node.text("valueTransformerName")
    attribute.allowsExternalBinaryDataStorage = node.flag("allowsExternalBinaryDataStorage")
    attribute.preservesValueInHistoryOnDeletion = node.flag("preserveAfterDeletion")
    attribute.allowsCloudEncryption = node.flag("allowsCloudEncryption")
    attribute.usesScalarValueType = node.flag("usesScalarValueType")
    attribute.defaultValue = try defaultValue(attribute.attributeType)
    attribute.constraints = try constraints(attribute)
    return attribute
  }

  package static let types: [String: NSAttributeType] = [
    "Undefined": .undefinedAttributeType, "Integer 16": .integer16AttributeType,
    "Integer 32": .integer32AttributeType, "Integer 64": .integer64AttributeType,
    "Decimal": .decimalAttributeType, "Double": .doubleAttributeType, "Float": .floatAttributeType,
    "String": .stringAttributeType, "Boolean": .booleanAttributeType, "Date": .dateAttributeType,
    "Binary": .binaryDataAttributeType, "UUID": .UUIDAttributeType, "URI": .URIAttributeType,
    "Transformable": .transformableAttributeType, "Object ID": .objectIDAttributeType,
    "Composite": .compositeAttributeType,
  ]

  private func type() throws -> NSAttributeType {
    // The editor omits the type while it is undefined.
    guard let text = node.text("attributeType") else { return .undefinedAttributeType }
    guard let type = Self.types[text] else {
      throw error(
        "has the unknown type '\(text)'.", "Use one of: \(Self.types.keys.sorted().joined(separator: ", ")).")
    }
    return type
  }

  private func defaultValue(_ type: NSAttributeType) throws -> Any? {
    if type == .dateAttributeType {
      return try seconds("defaultDateTimeInterval").map(Date.init(timeIntervalSinceReferenceDate:))
    }
    if type == .stringAttributeType { return node.attributes["defaultValueString"] }
    guard let text = node.text("defaultValueString") else { return nil }
    guard let value = Self.value(text, type) ?? Self.wholeNumber(text).flatMap({ Self.value($0, type) }) else {
      throw error(
        "has the default '\(text)', which is not a \(node.text("attributeType") ?? "").", "Correct or remove it."
      )
    }
    return value
  }

  private static func value(_ text: String, _ type: NSAttributeType) -> Any? {
    switch type {
    case .integer16AttributeType: Int16(text).map { NSNumber(value: $0) }
    case .integer32AttributeType: Int32(text).map { NSNumber(value: $0) }
    case .integer64AttributeType: Int64(text).map { NSNumber(value: $0) }
    case .doubleAttributeType: Double(text).map { NSNumber(value: $0) }
    case .floatAttributeType: Float(text).map { NSNumber(value: $0) }
    case .decimalAttributeType: decimal(text).map { NSDecimalNumber(decimal: $0) }
    case .booleanAttributeType: flags[text.uppercased()].map { NSNumber(value: $0) }
    case .UUIDAttributeType: UUID(uuidString: text)
    case .URIAttributeType: URL(string: text)
    case .stringAttributeType: text
    case .binaryDataAttributeType, .transformableAttributeType: Data(base64Encoded: text)
    case .dateAttributeType, .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: nil
    }
  }

  /// A whole number as digits only. The editor keeps the text of a default or a bound when the attribute's type
  /// changes, so the text for a number may be 0.0 or NO.
  private static func wholeNumber(_ text: String) -> String? {
    if let flag = flags[text.uppercased()] { return flag ? "1" : "0" }
    return Double(text).flatMap(Int64.init(exactly:)).map { String($0) }
  }

  private static let flags = ["YES": true, "NO": false, "TRUE": true, "FALSE": false, "1": true, "0": false]

  /// Decimal(string:) reads a number at the start of any text, so the text is validated first.
  private static func decimal(_ text: String) -> Decimal? {
    Double(text) == nil ? nil : Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
  }

  private func constraints(_ attribute: NSAttributeDescription) throws -> AttributeConstraints {
    var constraints = AttributeConstraints()
    switch attribute.attributeType {
    case .stringAttributeType:
      constraints.lengthMin = try length("minValueString")
      constraints.lengthMax = try length("maxValueString")
    case .dateAttributeType:
      constraints.minimum = try seconds("minDateTimeInterval").map(StoredValue.real)
      constraints.maximum = try seconds("maxDateTimeInterval").map(StoredValue.real)
    default:
      constraints.minimum = try bound("minValueString", attribute)
      constraints.maximum = try bound("maxValueString", attribute)
    }
    if let pattern = node.text("regularExpressionString") {
      do {
        try constraints.setPattern(pattern)
      } catch {
        throw self.error(
          "has the pattern '\(pattern)', which is not a regular expression.", "Correct or remove it.")
      }
    }
    return constraints
  }

  private func length(_ key: String) throws -> Int? {
    guard let text = node.text(key) else { return nil }
    guard let length = Int(text), length >= 0 else {
      throw error("has the length \(key)=\"\(text)\", which is not a whole number.", "Write digits only.")
    }
    return length
  }

  private func seconds(_ key: String) throws -> Double? {
    guard let text = node.text(key) else { return nil }
    guard let seconds = Double(text), seconds.isFinite else {
      throw error("has \(key)=\"\(text)\", which is not a number.", "Write seconds since 2001-01-01 UTC.")
    }
    return seconds
  }

  private func bound(_ key: String, _ attribute: NSAttributeDescription) throws -> StoredValue? {
    guard let text = node.text(key) else { return nil }
    let type = attribute.attributeType
    let value = Self.value(text, type) ?? Self.wholeNumber(text).flatMap { Self.value($0, type) }
    guard let value, let stored = attribute.storedValue(from: value), stored.number != nil else {
      throw error("has the bound \(key)=\"\(text)\", which is not a value of its type.", "Correct or remove it.")
    }
    return stored
  }

  private func error(_ problem: String, _ advice: String) -> ModelFileError {
    ModelFileError(
      file: file, line: node.line, problem: "Attribute '\(entity).\(node.text("name") ?? "")' \(problem)",
      advice: advice)
  }
}
