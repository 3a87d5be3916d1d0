import OpenCoreData
import PersistentStores

/// The values of entries as texts: as an export writes them, and dates exactly.
struct EntryTexts: Sendable {
  /// An attribute that is shown.
  struct Column: Sendable {
    /// The column's name in the pipeline.
    let name: String
    let attribute: String
    let slot: Int
    let type: ColumnType
    /// The link that it names objects of, and the text between several; nil for an attribute of the entity.
    let link: (number: Int, separator: String?)?
    fileprivate let content: ColumnContent
  }

  let columns: [Column]

  /// The columns of a set whose indices are in `chosen`, in this order.
  ///
  /// - Parameter links: Those whose names are shown too.
  init(_ set: ColumnSet, _ chosen: [Int], entity: NSEntityDescription, links: [EntityLink] = []) {
    columns = chosen.compactMap { index in
      let parser = set.parsers[index]
      let number = links.firstIndex { $0.columns.contains(parser.column) }
      let separator = number.flatMap { links[$0].separator }.map { String(decoding: $0, as: UTF8.self) }
      let name = number.flatMap { links[$0].attribute(of: parser.definition) } ?? parser.definition.attribute
      let type = separator == nil ? parser.type : .text
      // Without formats of its own no type is refused.
      guard let slot = (number.map { links[$0].entity } ?? entity).slot(named: name),
        let content = try? ColumnContent(type, [], dateFormat: ["iso8601", "seconds"], named: [:])
      else { return nil }
      return Column(
        name: parser.definition.name, attribute: parser.definition.attribute, slot: separator == nil ? slot : 0,
        type: type, link: number.map { ($0, separator) }, content: content)
    }
  }

  /// The text of a value; nil for no value.
  func text(_ column: Int, row: Int, of batch: ObjectBatch) -> String? {
    text(column, of: batch.cell(row: row, slot: columns[column].slot), in: batch)
  }

  func text(_ column: Int, of cell: ValueCell, in batch: ObjectBatch) -> String? {
    switch cell.kind {
    case .null: return nil
    case .text: return String(decoding: batch.bytes(of: cell), as: UTF8.self)
    case .integer, .real, .blob, .decimal:
      var bytes: [UInt8] = []
      if columns[column].content.append(cell, of: batch, to: &bytes) != nil {
        // A date beyond the calendar, or bytes that are not a UUID.
        return cell.kind == .real ? "\(cell.real)" : cell.kind == .blob ? "\(cell.length) bytes" : "\(cell.integer)"
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// The texts of a row's values, one for each column, whose batches are given.
  func texts(row: Int, of batches: [ObjectBatch]) -> [String?] {
    columns.indices.map { text($0, row: row, of: batches[$0]) }
  }

  /// The texts of a row's values, one for each column.
  func texts(row: Int, of batch: ObjectBatch) -> [String?] {
    columns.indices.map { text($0, row: row, of: batch) }
  }
}

/// A value in JSON: numbers as numbers, true and false as such, everything else as its text, no value as null.
package struct JSONCell: Sendable, Encodable {
  let text: String?
  let type: ColumnType

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    guard let text else { return try container.encodeNil() }
    switch type {
    case .integer: if let number = Int64(text) { return try container.encode(number) }
    case .boolean: if let number = Int64(text) { return try container.encode(number != 0) }
    case .real, .single:
      if let number = Double(text), number.isFinite { return try container.encode(number) }
    case .text, .decimal, .date, .uuid, .uri, .binary, .archive: break
    }
    try container.encode(text)
  }
}
