import ManagedObjectModel
import Foundation

/// The contents of a fetch's dictionaries, and which rows are grouped.
package struct DictionaryShape: Sendable {
  package enum Column: Sendable, Equatable {
    /// An attribute of the entity, or at the end of a path of to-one relationships.
    case attribute(NSAttributeDescription, path: [String])
    case objectID

    package var name: String {
      switch self {
      case .attribute(_, let path): path.joined(separator: ".")
      case .objectID: "objectID"
      }
    }
  }

  package var columns: [Column]
  package var isDistinct = false
  /// Names of attributes; empty: rows are not grouped.
  package var groupNames: [String] = []
  package var having: BoundPredicate?
  /// As the client wrote it, for stores that evaluate it themselves.
  package var havingSource: PredicateNode?

  package init(columns: [Column], isDistinct: Bool = false, groupNames: [String] = [], having: BoundPredicate? = nil) {
    self.columns = columns
    self.isDistinct = isDistinct
    self.groupNames = groupNames
    self.having = having
  }

  /// Whether a result may represent several rows.
  package var joinsRows: Bool { isDistinct || !groupNames.isEmpty }
}

/// One result: its identity, if requested, and its values in the order of the shape's columns.
package struct DictionaryRow: Sendable {
  package let id: NSManagedObjectID?
  package let values: [StoredValue]

  /// - Parameter values: Null instead of `objectID`.
  package init(id: NSManagedObjectID?, values: [StoredValue]) {
    self.id = id
    self.values = values
  }

  package func dictionary(_ shape: DictionaryShape) -> NSDictionary {
    let result = NSMutableDictionary()
    for (column, value) in zip(shape.columns, values) {
      switch column {
      case .objectID: if let id { result[NSString(string: column.name)] = id }
      case .attribute(let attribute, _):
        if let value = attribute.foundationValue(from: value) { result[NSString(string: column.name)] = value }
      }
    }
    return result
  }
}
