import ManagedObjectModel
import Foundation

/// Finds the join table of a many-to-many relationship in a store.
///
/// Its name and columns contain entity numbers from the time of its creation. The invariant is that the column with the
/// keys of a relationship's destinations ends with the relationship's name.
struct JoinTableSearch {
  private let relationship: NSRelationshipDescription
  private let layout: StoreLayout
  private let location: String

  init(_ relationship: NSRelationshipDescription, layout: StoreLayout, location: String) {
    self.relationship = relationship
    self.layout = layout
    self.location = location
  }

  struct Found {
    let table: StoreLayout.Table
    let source: String
    let destination: String
  }

  /// - Parameters: The names of a new store with the same entity numbers.
  func find(table: String, sourceColumn: String, destinationColumn: String) throws -> Found {
    if let known = layout.table(table), let source = known.column(sourceColumn),
      let destination = known.column(destinationColumn)
    {
      return Found(table: known, source: source, destination: destination)
    }
    // Stores of earlier versions of this library name the table after the other side.
    let sameColumns = layout.tables.compactMap { table -> Found? in
      guard Self.stem(of: table.name) != nil, let source = table.column(sourceColumn),
        let destination = table.column(destinationColumn)
      else { return nil }
      return Found(table: table, source: source, destination: destination)
    }
    if sameColumns.count == 1 { return sameColumns[0] }
    let found = layout.tables.compactMap(pair)
    guard found.count == 1 else {
      let others = found.isEmpty ? "" : "; it may be any of \(found.map(\.table.name).joined(separator: ", "))"
      throw SchemaMatcher.mismatch(
        location,
        "it has no table \(table) with the columns \(sourceColumn) and \(destinationColumn) for the relationship "
          + "\(relationship.entity.name ?? "").\(relationship.name)" + others)
    }
    return found[0]
  }

  /// The columns of the two sides, if `table` can join this relationship with its inverse.
  private func pair(_ table: StoreLayout.Table) -> Found? {
    guard let inverse = relationship.inverseRelationship, Self.stem(of: table.name) != nil else { return nil }
    let keys = table.columns.filter { !$0.sqlFolded.hasPrefix("Z_FOK_") }
    guard keys.count == 2 else { return nil }
    if inverse === relationship {
      guard let other = keys.first(where: { $0.sqlFolded == "REFLEXIVE" }),
        let named = keys.first(where: { isNamed($0, relationship) })
      else { return nil }
      return Found(table: table, source: named, destination: other)
    }
    for (destination, source) in [(keys[0], keys[1]), (keys[1], keys[0])]
    where isNamed(destination, relationship) && isNamed(source, inverse) {
      return Found(table: table, source: source, destination: destination)
    }
    return nil
  }

  /// Whether a column's name is `Z_`, a number, the relationship's name, and optionally the number of a clash.
  private func isNamed(_ column: String, _ relationship: NSRelationshipDescription) -> Bool {
    guard let stem = Self.stem(of: column) else { return false }
    let name = relationship.name.uppercased().sqlFolded
    return stem.hasPrefix(name) && stem.dropFirst(name.count).allSatisfy(\.isNumber)
  }

  /// `BOOKS` in `Z_2BOOKS`; nil for names of another form.
  private static func stem(of name: String) -> Substring? {
    let folded = name.sqlFolded
    guard folded.hasPrefix("Z_") else { return nil }
    let rest = folded.dropFirst(2)
    let stem = rest.drop(while: \.isNumber)
    return stem.isEmpty || stem.count == rest.count ? nil : stem
  }
}
