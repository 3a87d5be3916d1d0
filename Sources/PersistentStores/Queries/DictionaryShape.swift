import ManagedObjectModel
import Foundation

/// The contents of a fetch's dictionaries, and which rows each stands for.
package struct DictionaryShape: Sendable {
  package enum Column: Sendable {
    /// An attribute of the entity, or at the end of a path of to-one relationships.
    case attribute(NSAttributeDescription, path: [String])
    case objectID(name: String = "objectID")
    case expression(ExpressionColumn)

    package var name: String {
      switch self {
      case .attribute(_, let path): path.joined(separator: ".")
      case .objectID(let name): name
      case .expression(let expression): expression.name
      }
    }

    /// The entity of the object that it is the ID of, at the end of a to-one relationship; nil for other columns.
    package var destination: NSEntityDescription? {
      if case .expression(let expression) = self { expression.destination } else { nil }
    }

    package var isObjectID: Bool { if case .objectID = self { true } else { false } }
  }

  package var columns: [Column]
  package var isDistinct = false
  /// What rows are grouped by: attributes and expressions. Empty: they are not grouped.
  package var groups: [Column] = []
  /// What expressions compute of all rows that a result stands for.
  package var aggregates: [RowAggregate] = []
  package var having: BoundPredicate?
  /// As the client wrote it, for stores that evaluate it themselves.
  package var havingSource: PredicateNode?

  package init(columns: [Column], isDistinct: Bool = false, groups: [Column] = []) {
    self.columns = columns
    self.isDistinct = isDistinct
    self.groups = groups
  }

  package var groupNames: [String] { groups.map(\.name) }
  package var hasObjectID: Bool { columns.contains(where: \.isObjectID) }
  /// Whether a result may represent several rows.
  package var joinsRows: Bool { isDistinct || !groups.isEmpty || isSummary }
  /// Whether one result stands for all rows, also where there are none.
  package var isSummary: Bool { groups.isEmpty && !aggregates.isEmpty }
}

/// A column that is computed, of a row or of the rows that a result stands for.
package struct ExpressionColumn: Sendable {
  package let name: String
  /// As the client wrote it, for stores that evaluate it themselves.
  package let source: PredicateOperand
  /// Its keys are attributes, and aggregates of the shape.
  package let value: BoundExpression
  /// An attribute that has the values of the results.
  package let attribute: NSAttributeDescription
  package var resultType: NSAttributeType { attribute.attributeType }
  /// The entity of the objects that it leads to; nil for values.
  package let destination: NSEntityDescription?

  /// - Parameters:
  ///   - resultType: Nil: that of the expression.
  ///   - decoding: The attribute whose values these are, unchanged; nil for computed values.
  ///   - destination: The entity of the objects that a to-one relationship leads to, whose values for comparisons these are.
  package init(
    name: String, source: PredicateOperand, value: BoundExpression, resultType: NSAttributeType? = nil,
    decoding: NSAttributeDescription? = nil, destination: NSEntityDescription? = nil
  ) {
    (self.name, self.source, self.value, self.destination) = (name, source, value, destination)
    if let decoding {
      attribute = decoding
    } else {
      attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = resultType ?? value.type.attributeType
    }
  }

  /// The key paths of a single row that it reads.
  package var rowPaths: Set<[String]> { value.paths.filter { ResultKey($0) == nil } }
  /// Whether it reads what only a result has.
  package var isOfResult: Bool { value.keys.contains { ResultKey($0.path) != nil } }
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

  /// - Parameter ids: The IDs of the objects that relationships lead to, by their values.
  package func dictionary(_ shape: DictionaryShape, _ ids: [StoredValue: NSManagedObjectID]) -> NSDictionary {
    let result = NSMutableDictionary()
    for (column, value) in zip(shape.columns, values) {
      let object: Any? =
        switch column {
        case .objectID: id
        case .attribute(let attribute, _): attribute.foundationValue(from: value)
        case .expression(let expression) where expression.destination != nil: ids[value]
        case .expression(let expression):
          expression.attribute.foundationValue(from: value.converted(to: expression.resultType))
        }
      if let object { result[NSString(string: column.name)] = object }
    }
    return result
  }
}

extension StoredValue {
  /// A value of another type of the same kind. As in SQLite, a fraction is cut off for an integer, and a number beyond
  /// 64 bits becomes the nearest one.
  package func converted(to type: NSAttributeType) -> StoredValue {
    switch (type, self) {
    case (.integer16AttributeType, .real(let number)), (.integer32AttributeType, .real(let number)),
      (.integer64AttributeType, .real(let number)):
      .integer(Int64(clamping: number))
    case (.integer16AttributeType, .decimal(let number)), (.integer32AttributeType, .decimal(let number)),
      (.integer64AttributeType, .decimal(let number)):
      .integer(Int64(clamping: number.storedReal))
    case (.booleanAttributeType, .real(let number)): .integer(number == 0 ? 0 : 1)
    case (.booleanAttributeType, .decimal(let number)): .integer(number == 0 ? 0 : 1)
    case (.booleanAttributeType, .integer(let number)): .integer(number == 0 ? 0 : 1)
    case (.doubleAttributeType, .integer(let number)), (.floatAttributeType, .integer(let number)):
      .real(Double(number))
    case (.doubleAttributeType, .decimal(let number)), (.floatAttributeType, .decimal(let number)):
      .real(number.storedReal)
    case (.decimalAttributeType, .integer(let number)): .decimal(Decimal(number))
    case (.decimalAttributeType, .real(let number)): .decimal(Decimal(storedReal: number))
    default: self
    }
  }
}

extension Int64 {
  fileprivate init(clamping number: Double) {
    self = Int64(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
  }
}
