import Foundation
import ManagedObjectModel

/// What Apple's framework takes from the user info of entities and attributes (docs/coredata-format.md, "Location
/// attributes").
enum SQLUserInfoKey {
  /// The two attributes of a location attribute, in a list or separated by a comma.
  static let locationComponents = "_NSLocationAttributeDerivedComponents"
  /// A condition over related objects, whose triggers keep a number up to date.
  static let trigger = "NSTriggerKey"
  /// "YES": the entity's table has no index of entity numbers.
  static let omitsEntityIndex = "_NSEntityOmitSubentityColumnIndex"
}

/// The R-trees of location attributes.
extension SQLNaming {
  /// The R-trees of an entity's location attributes, by name.
  func locationTrees(of entity: NSEntityDescription) -> [SQLDerivation] {
    locationAttributes(of: entity).compactMap { locationTree(of: $0, in: entity) }
  }

  /// The parts that an entity's user info asks for and whose texts are unknown.
  func unsupportedUserInfo(of entity: NSEntityDescription) -> [String] {
    let trees = locationAttributes(of: entity).filter { locationTree(of: $0, in: entity) == nil }.map {
      "the R-tree of the location attribute '\(entity.name ?? "").\($0.name)'"
    }
    let triggers = ownAttributes(of: entity).filter { $0.userInfo?[SQLUserInfoKey.trigger] != nil }.map {
      "the triggers of '\(entity.name ?? "").\($0.name)' (\(SQLUserInfoKey.trigger))"
    }
    return trees + triggers
  }

  private func locationAttributes(of entity: NSEntityDescription) -> [NSAttributeDescription] {
    ownAttributes(of: entity).filter { $0.userInfo?[SQLUserInfoKey.locationComponents] != nil }
  }

  private func ownAttributes(of entity: NSEntityDescription) -> [NSAttributeDescription] {
    entity.attributesByName.values.filter { $0.owner === entity }.sorted { String.byteOrder($0.name, $1.name) }
  }

  /// Known for two stored numbers with a fraction, in an entity without a superentity.
  private func locationTree(of attribute: NSAttributeDescription, in entity: NSEntityDescription) -> SQLDerivation? {
    let components = attribute.userInfo?[SQLUserInfoKey.locationComponents]
    guard entity.superentity == nil,
      let list = components as? [String] ?? (components as? String)?.split(separator: ",").map(String.init)
    else { return nil }
    let names = list.map { $0.trimmingCharacters(in: .whitespaces) }
    let columns = names.compactMap { name in
      entity.attributesByName[name].flatMap { $0.isTransient || $0.columnType != .float ? nil : indexColumn(of: $0) }
    }
    guard names.count == 2, columns.count == 2 else { return nil }
    return locationTree(
      "Z_RT_\(entity.name ?? "")_\(attribute.name)", on: tableName(of: entity), x: columns[0], y: columns[1])
  }

  private func locationTree(_ tree: String, on table: String, x: String, y: String) -> SQLDerivation {
    let columns = "\(x)_MIN, \(x)_MAX, \(y)_MIN, \(y)_MAX"
    let declarations = "\(x)_MIN FLOAT, \(x)_MAX FLOAT, \(y)_MIN FLOAT, \(y)_MAX FLOAT"
    let insertion = "INTO \(tree) (Z_PK, \(columns)) VALUES (NEW.Z_PK, NEW.\(x) ,NEW.\(x), NEW.\(y), NEW.\(y)) ;"
    func trigger(_ event: String, _ text: String) -> (name: String, text: String) {
      let name = "\(tree)_\(event)"
      return (name, "CREATE TRIGGER \(name) AFTER \(event) ON \(table) FOR EACH ROW BEGIN \(text) END")
    }
    return SQLDerivation(
      table: (tree, "CREATE VIRTUAL TABLE \(tree) USING RTREE (Z_PK INTEGER PRIMARY KEY, \(declarations))"),
      triggers: [
        trigger("INSERT", "INSERT OR REPLACE \(insertion)"),
        trigger("UPDATE", "DELETE FROM \(tree) WHERE Z_PK = NEW.Z_PK ; INSERT \(insertion)"),
        trigger("DELETE", "DELETE FROM \(tree) WHERE Z_PK = OLD.Z_PK ;"),
      ],
      fillStatement: "INSERT INTO \(tree) (Z_PK, \(columns)) SELECT Z_PK, \(x), \(x), \(y), \(y) FROM \(table)")
  }
}
