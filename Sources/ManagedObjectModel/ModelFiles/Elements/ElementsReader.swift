import Foundation

/// Reads the `elements` file of an `.xcdatamodel` of Xcode 3 (docs/coredata-format.md, "Models of Xcode 3"): a keyed archive
/// of the editor's own objects, in which each entity and property has its settings in "stereotypes". It is translated
/// into the elements of the later XML form, which say the same in other names.
struct ElementsReader {
  private let file: URL
  private let archive: KeyedArchive
  /// One sentence about each part that was left out.
  private(set) var notes: [String] = []

  /// The model in an `elements` file, with one sentence about each part that was left out.
  ///
  /// - Throws: `NSError` 259 for a file of another form, and the errors of a model file.
  static func load(_ file: URL) throws -> (model: NSManagedObjectModel, notes: [String]) {
    try load(archive: ModelPackage.contents(of: file, "The model's elements can't be read."), file: file)
  }

  /// As ``load(_:)``, for an archive that is the content of such a file, or a part of `file`.
  static func load(archive data: Data, file: URL) throws -> (model: NSManagedObjectModel, notes: [String]) {
    do {
      var reader = ElementsReader(file: file, archive: try KeyedArchive(data))
      let root = try reader.model()
      return (try ModelXMLReader(file: file).read(root), reader.notes)
    } catch let problem as ArchiveProblem {
      throw Self.error(file, "\(problem)").nsError
    } catch let error as ModelFileError {
      throw error.nsError
    }
  }

  private init(file: URL, archive: KeyedArchive) {
    self.file = file
    self.archive = archive
  }

  private static func error(_ file: URL, _ problem: String) -> ModelFileError {
    ModelFileError(
      file: file, line: nil, problem: "This is not a model of Xcode 3 that can be read: \(problem).",
      advice: "Give the .mom that it was compiled to, or save it with a later Xcode, which adds a file 'contents'.")
  }

  private func node(
    _ name: String, _ attributes: [String: String?], children: [XMLElementNode] = []
  ) -> XMLElementNode {
    XMLElementNode(name: name, attributes: attributes.compactMapValues(\.self), line: 0, children: children)
  }

  // MARK: The model

  private mutating func model() throws(ModelFileError) -> XMLElementNode {
    guard let model = archive.object(archive.root), model.className == "XDPMModel",
      let package = archive.object(model.values["_xd_rootPackage"]),
      let classes = archive.entries(package.values["XDBucketForClassesstorage"])
    else { throw Self.error(file, "it has no list of entities") }
    if archive.entries(model.values["_configurationsByName"])?.isEmpty == false {
      notes.append("The configurations of \(file.path) are left out: their form in 'elements' is not known.")
    }
    if archive.entries(package.values["XDBucketForPackagesstorage"])?.isEmpty == false {
      throw Self.error(file, "it has packages inside")
    }
    var children: [XMLElementNode] = []
    for (key, value) in classes {
      guard let entity = archive.object(value), entity.className == "XDPMEntity" else {
        throw Self.error(file, "'\(key)' is not an entity")
      }
      children += try self.entity(entity, key)
    }
    let identifier = archive.text(model.values["_modelVersionIdentifier"])
    return node("model", ["userDefinedModelVersionIdentifier": identifier], children: children)
  }

  /// The entity, and the fetch requests that it lists.
  private mutating func entity(
    _ entity: KeyedArchive.Object, _ key: String
  ) throws(ModelFileError) -> [XMLElementNode] {
    let settings = settings(of: entity)
    let name = archive.text(entity.values["_name"]) ?? key
    var children = [userInfo(settings["XD_PSK_userInfo"])]
    for (key, value) in archive.entries(entity.values["XDBucketForOwnedAttributesstorage"]) ?? [] {
      guard let property = archive.object(value) else { throw Self.error(file, "'\(name).\(key)' is not an object") }
      children.append(try self.property(property, key, of: name))
    }
    if archive.members(entity.values["XDPMCompoundIndexes"])?.isEmpty == false {
      notes.append("The compound indexes of \(name) are left out: their form in 'elements' is not known.")
    }
    children.append(try uniqueness(settings["XDPMUniquenessConstraints"], of: name))
    let above = archive.members(entity.values["XDBucketForGeneralizationsstorage"])?.first
    let attributes: [String: String?] = [
      "name": name, "representedClassName": archive.text(settings["XD_PSK_entityClassName"]),
      "parentEntity": above.flatMap { archive.object($0) }.flatMap { self.name($0.values["_general"]) },
      "isAbstract": flag(settings["XD_PSK_isAbstract"]),
      "versionHashModifier": archive.text(settings["XD_PSK_versionHashModifier"]),
      "elementID": archive.text(settings["XD_PSK_elementID"]),
    ]
    let requests = (archive.members(settings["XD_PSK_fetchRequestsArray"]) ?? []).compactMap { archive.object($0) }
    return [node("entity", attributes, children: children)]
      + requests.map { request in
        node(
          "fetchRequest",
          [
            "name": archive.text(request.values["_name"]), "entity": self.name(request.values["_entity"]) ?? name,
            "predicateString": archive.text(request.values["_predicateString"]),
          ])
      }
  }

  // MARK: Properties

  private mutating func property(
    _ property: KeyedArchive.Object, _ key: String, of entity: String
  ) throws(ModelFileError) -> XMLElementNode {
    let settings = settings(of: property)
    let name = archive.text(property.values["_name"]) ?? key
    var attributes: [String: String?] = [
      "name": name, "optional": flag(settings["XD_PPSK_isOptional"]),
      "transient": flag(settings["XD_PPSK_isTransient"]),
      "indexed": flag(settings["XD_PPSK_isIndexed"]),
      "spotlightIndexingEnabled": flag(settings["XD_PPSK_isSpotlightIndexed"]),
      "storedInTruthFile": flag(settings["XD_PPSK_isStoredInTruthFile"]),
      "versionHashModifier": archive.text(settings["XD_PPSK_versionHashModifier"]),
      "elementID": archive.text(settings["XD_PPSK_elementID"]),
    ]
    let children = [userInfo(settings["XD_PPSK_userInfo"])]
    switch property.className {
    case "XDPMAttribute":
      let more = try attribute(settings, "\(entity).\(name)")
      return node("attribute", attributes.merging(more) { $1 }, children: children)
    case "XDPMRelationship":
      attributes.merge(relationship(settings)) { $1 }
      return node("relationship", attributes, children: children)
    default:
      throw Self.error(file, "'\(entity).\(name)' is of the class \(property.className), which is not known")
    }
  }

  private static let types = [
    100: "Integer 16", 200: "Integer 32", 300: "Integer 64", 400: "Decimal", 500: "Double", 600: "Float",
    700: "String", 800: "Boolean", 900: "Date", 1000: "Binary", 1800: "Transformable",
  ]

  private mutating func attribute(
    _ settings: [String: ArchiveValue], _ subject: String
  ) throws(ModelFileError) -> [String: String?] {
    let number = archive.integer(settings["XD_PAttK_attributeType"]) ?? 0
    guard number == 0 || Self.types[number] != nil else {
      throw Self.error(file, "'\(subject)' has the type \(number), which is not known")
    }
    var result: [String: String?] = [
      "attributeType": Self.types[number],
      "regularExpressionString": archive.text(settings["XD_PAttK_regularExpressionString"]),
      "valueTransformerName": archive.text(settings["XD_PAttK_valueTransformerName"]),
      "allowsExternalBinaryDataStorage": flag(settings["XD_PAttK_allowsExternalBinaryDataStorage"]),
    ]
    let limits = [
      ("XD_PAttK_defaultValueAsString", "defaultValueString"), ("XD_PAttK_minValueString", "minValueString"),
      ("XD_PAttK_maxValueString", "maxValueString"),
    ]
    for (key, attribute) in limits {
      guard let text = archive.text(settings[key]), !text.isEmpty else { continue }
      if number == 900 {
        notes.append("The \(attribute) of '\(subject)' is left out: the form of dates in 'elements' is not known.")
      } else {
        result[attribute] = text
      }
    }
    return result
  }

  private static let deletionRules = ["No Action", "Nullify", "Cascade", "Deny"]

  private func relationship(_ settings: [String: ArchiveValue]) -> [String: String?] {
    let rule = archive.integer(settings["XD_PRK_deleteRule"]) ?? 1
    let inverse = archive.object(settings["XD_PRK_inverseRelationship"])
    return [
      "toMany": flag(settings["XD_PRK_isToMany"]), "ordered": flag(settings["XD_PRK_ordered"]),
      "minCount": archive.integer(settings["XD_PRK_minCount"]).map(String.init),
      "maxCount": archive.integer(settings["XD_PRK_maxCount"]).map(String.init),
      // An unknown number is refused by the reader of the later form.
      "deletionRule": Self.deletionRules.indices.contains(rule) ? Self.deletionRules[rule] : "\(rule)",
      "destinationEntity": name(settings["XD_PRK_destination"]),
      "inverseName": inverse.flatMap { archive.text($0.values["_name"]) },
      "inverseEntity": inverse.flatMap { name($0.values["_owner"]) },
    ]
  }

  // MARK: Parts

  /// The settings of an entity or a property: the defaults of its stereotypes' properties, by name.
  private func settings(of element: KeyedArchive.Object) -> [String: ArchiveValue] {
    var result: [String: ArchiveValue] = [:]
    for (_, value) in archive.entries(element.values["XDBucketForStereotypesstorage"]) ?? [] {
      let stereotype = archive.object(value)
      for (key, value) in archive.entries(stereotype?.values["XDBucketForOwnedAttributesstorage"]) ?? [] {
        result[key] = archive.object(value)?.values["_default"]
      }
    }
    return result
  }

  private func name(_ reference: ArchiveValue?) -> String? {
    archive.object(reference).flatMap { archive.text($0.values["_name"]) }
  }

  private func flag(_ value: ArchiveValue?) -> String? { archive.flag(value) ? "YES" : nil }

  /// A list of constraints, each a list of the names of properties.
  private func uniqueness(_ value: ArchiveValue?, of entity: String) throws(ModelFileError) -> XMLElementNode {
    var constraints: [XMLElementNode] = []
    for constraint in archive.members(value) ?? [] {
      let members = archive.members(constraint) ?? []
      let names = members.compactMap(archive.text)
      guard !names.isEmpty, names.count == members.count else {
        throw Self.error(file, "a uniqueness constraint of '\(entity)' is not a list of names")
      }
      let parts = names.map { node("constraint", ["value": $0]) }
      constraints.append(node("uniquenessConstraint", [:], children: parts))
    }
    return node("uniquenessConstraints", [:], children: constraints)
  }

  /// Entries with texts, the only ones that the later form has.
  private func userInfo(_ value: ArchiveValue?) -> XMLElementNode {
    let entries = (archive.entries(value) ?? []).compactMap { key, value in
      archive.text(value).map { node("entry", ["key": key, "value": $0]) }
    }
    return node("userInfo", [:], children: entries)
  }
}
