import ManagedObjectModel
import PipelineEngine

/// A column of a listing.
package enum ListedColumn: Sendable, Hashable {
  /// The number of the object, under the name that the listing gives to it.
  case key(String)
  case attribute(String)
  /// An attribute at the end of a path over to-one relationships.
  case path(String, ColumnType)
  /// The objects that a relationship leads to.
  case relationship(String)

  var name: String {
    switch self {
    case .key(let name), .attribute(let name), .path(let name, _), .relationship(let name): name
    }
  }
}

extension ObjectKind {
  /// The columns with these names.
  ///
  /// - Throws: `JournalError.Code.badQuery` for a name that the objects do not have, and for one that is there twice.
  package func listedColumns(_ names: [String]) throws(JournalError) -> [ListedColumn] {
    var columns: [ListedColumn] = []
    for name in names {
      // An attribute may have the name of the key's column.
      let column =
        attributes.contains(name) ? ListedColumn.attribute(name) : name == keyName ? .key(name) : relatedColumn(name)
      guard let column else {
        let known = [keyName] + attributes + relationships
        throw JournalError(
          .badQuery, exitCode: .usage,
          "'\(RawText.oneLine(name))' is not a column of \(entity)\(NearestName.hint(for: name, in: known)); known are "
            + known.joined(separator: ", "))
      }
      if columns.contains(column) {
        throw JournalError(.badQuery, exitCode: .usage, "the column '\(name)' is named twice; name it once")
      }
      columns.append(column)
    }
    return columns
  }

  /// The relationships of the entity that a store keeps.
  private var relationships: [String] {
    let all = model.flatMap(description(in:))?.relationshipsByName ?? [:]
    return all.filter { !$0.value.isTransient }.keys.sorted()
  }

  /// The column of a relationship, or of a path over to-one relationships; nil if there is none of that name.
  private func relatedColumn(_ name: String) -> ListedColumn? {
    if relationships.contains(name) { return .relationship(name) }
    let path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var entity = model.flatMap(description(in:))
    for step in path.dropLast() {
      guard let relationship = entity?.relationshipsByName[step], !relationship.isToMany, !relationship.isTransient
      else { return nil }
      entity = relationship.destinationEntity
    }
    return path.last.flatMap { entity?.columnTypes[$0] }.map { .path(name, $0) }
  }
}

/// The values of the columns of a listing, as one JSON object.
struct ListedValues: Encodable {
  private let record: JournalRecord
  private let columns: [ListedColumn]

  init(_ record: JournalRecord, _ columns: [ListedColumn]) { (self.record, self.columns) = (record, columns) }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: JournalRecord.Key.self)
    for column in columns {
      let key = JournalRecord.Key(column.name)
      switch column {
      case .key: try container.encode(record.id, forKey: key)
      case .attribute(let name), .path(let name, _): try container.encode(record[name], forKey: key)
      case .relationship(let name):
        for link in record.links where link.name == name { try container.encode(link: link, forKey: key) }
      }
    }
  }
}
