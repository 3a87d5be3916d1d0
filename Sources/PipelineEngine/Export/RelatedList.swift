import CSV
import OpenCoreData
import PersistentStores

/// A column that joins the values of the objects at the end of a relationship, or has the number of an object.
struct RelatedList: Sendable {
  /// Its index among the columns of the output.
  let column: Int
  let name: String
  /// Nil for the entry itself.
  fileprivate let relationship: String?
  /// Nil for the number of the object.
  fileprivate let attribute: String?
  fileprivate let content: ColumnContent
  fileprivate let separator: [UInt8]

  init(column: Int, name: String, _ path: ColumnPath, _ content: ColumnContent, separator: String) {
    self.column = column
    self.name = name
    relationship = path.names.count == 1 ? nil : path.names[0]
    attribute = path.isOfRecord ? nil : path.names.last
    self.content = content
    self.separator = Array(separator.utf8)
  }

  /// Why an import would not read `text` as one of the values again; nil if it would.
  fileprivate func problem(_ text: [UInt8]) -> String? {
    guard let relationship, let attribute else { return nil }
    let trimmed = text.span.trimmedRange
    if trimmed.isEmpty { return "leads over \(relationship) to an object whose \(attribute) is empty" }
    if trimmed.count < text.count { return "has white space around the value '\(RawText.shortened(text))'" }
    let starts = 0..<max(0, text.count - separator.count + 1)
    if starts.contains(where: { text[$0...].starts(with: separator) }) {
      return "has the separator in the value '\(RawText.shortened(text))'; choose another one"
    }
    return nil
  }
}

/// Reads the values of lists for batches of entries, on the queue of the reading context.
struct RelatedListReader {
  private let lists: [RelatedList]
  private let context: NSManagedObjectContext
  /// The texts of objects by list.
  private var known: [[NSManagedObjectID: [UInt8]]]
  private static let knownMax = 100_000

  init(_ lists: [RelatedList], _ context: NSManagedObjectContext) {
    (self.lists, self.context) = (lists, context)
    known = lists.map { _ in [:] }
  }

  /// Adds the joined values to the rows of a batch.
  ///
  /// - Returns: The entries whose values can't be joined, by row.
  mutating func add(to batch: inout ObjectBatch, _ ids: ObjectIDCollection) throws -> [Int: EntryFormatter.Refusal] {
    if lists.isEmpty { return [:] }
    var refused: [Int: EntryFormatter.Refusal] = [:]
    var columns: [[StoredValue]] = []
    for (number, list) in lists.enumerated() {
      var others = ids.map { [$0] }
      if let name = list.relationship {
        guard let relationship = batch.entity.relationshipsByName[name] else { continue }
        others = try context.related(relationship, of: Array(ids))
      }
      try read(Set(others.joined()), number)
      columns.append(
        others.enumerated().map { row, others in
          var text: [UInt8] = []
          for (position, other) in others.enumerated() {
            let value = known[number][other] ?? []
            if let reason = list.problem(value) {
              refused[row] = EntryFormatter.Refusal(column: list.column, name: list.name, reason: reason)
            }
            if position > 0 { text += list.separator }
            text += value
          }
          return others.isEmpty ? .null : .text(String(decoding: text, as: UTF8.self))
        })
    }
    batch.addExtras(columns)
    return refused
  }

  /// Makes sure that the texts of these objects are known.
  private mutating func read(_ ids: Set<NSManagedObjectID>, _ number: Int) throws {
    if known[number].count > Self.knownMax { known[number] = [:] }
    let unknown = ids.filter { known[number][$0] == nil }
    let list = lists[number]
    if list.attribute == nil {
      for id in unknown { known[number][id] = Array("\(id.storeKey ?? 0)".utf8) }
      return
    }
    for (id, values) in zip(unknown, try context.storedValues(withIDs: Array(unknown))) {
      known[number][id] = text(values, of: id.entity, list)
    }
  }

  private func text(_ values: [StoredValue]?, of entity: NSEntityDescription, _ list: RelatedList) -> [UInt8] {
    guard let values, let slot = list.attribute.flatMap({ entity.slot(named: $0) }) else { return [] }
    var batch = ObjectBatch(entity: entity)
    batch.appendRow()
    batch.setValue(values[slot], row: 0, slot: slot)
    let cell = batch.cell(row: 0, slot: slot)
    switch cell.kind {
    case .null: return []
    case .text: return Array(batch.bytes(of: cell))
    case .integer, .real, .decimal, .blob:
      var text: [UInt8] = []
      return list.content.append(cell, of: batch, to: &text) == nil ? text : []
    }
  }
}
