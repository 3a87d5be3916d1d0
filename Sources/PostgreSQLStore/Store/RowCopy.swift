import Foundation
import ManagedObjectModel
import PersistentStores

/// Packed rows with their keys, to be written by COPY or one by one.
struct RowCopy {
  let batch: ObjectBatch
  let entity: SQLEntity
  let columns: EntityColumns
  var links = LinkColumns()
  /// The rows that are written, with their keys.
  var rows: [(row: Int, key: Int64)]

  private static let bufferBytes = 1 << 18

  private var names: [String] { ["Z_PK", "Z_ENT", "Z_OPT"] + columns.columns.map(\.name) + links.names }

  /// Writes all rows.
  ///
  /// - Parameters:
  ///   - savepoint: A savepoint that is set before.
  ///   - refuse: Is given the rows that the table can't hold; they are left out.
  func copy(
    _ connection: PostgreSQLConnection, savepoint: String? = nil, refuse: (_ row: Int, _ problem: String) -> Void
  ) throws {
    try CopiedBatch.with(batch) { try copy($0, to: connection, after: savepoint, refuse: refuse) }
  }

  private func copy(
    _ copied: CopiedBatch, to connection: PostgreSQLConnection, after savepoint: String?,
    refuse: (_ row: Int, _ problem: String) -> Void
  ) throws {
    // Without the names, whose references would be counted for each row.
    let fields = columns.columns.map { Field(slot: $0.slot, type: $0.type) }
    var (next, isBegun, isEnded) = (0, false, false)
    // Both in one message.
    let begin = savepoint.map { "SAVEPOINT \($0); " } ?? ""
    _ = try connection.copyIn(
      begin + "COPY \(entity.tableName) (\(names.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
    ) { buffer in
      if isEnded { return }
      if !isBegun {
        isBegun = true
        buffer.appendHeader()
      }
      while next < rows.count, buffer.count < Self.bufferBytes {
        let start = buffer.count
        if let problem = append(rows[next], of: copied, fields, to: &buffer) {
          buffer.truncate(to: start)
          refuse(rows[next].row, problem)
        }
        next += 1
      }
      if next == rows.count {
        isEnded = true
        buffer.appendTrailer()
      }
    }
  }

  private struct Field {
    let slot: Int
    let type: ColumnType
  }

  @inline(__always)
  private func append(
    _ one: (row: Int, key: Int64), of copied: CopiedBatch, _ fields: [Field], to buffer: inout CopyBuffer
  ) -> String? {
    buffer.beginRow(valueCount: 3 + fields.count + links.names.count)
    buffer.append(value: one.key)
    buffer.append(value: Int32(entity.number))
    buffer.append(value: Int32(1))
    for field in fields {
      if let problem = field.type.append(copied.cell(row: one.row, slot: field.slot), of: copied, to: &buffer) {
        return "\(batch.entity.attributeSlots[field.slot].name): \(problem)"
      }
    }
    for values in links.values {
      if values[one.row] == LinkColumns.nullKey {
        buffer.appendNull()
      } else {
        buffer.append(value: values[one.row])
      }
    }
    return nil
  }

  /// Statements that write the rows one by one, each unless another row has its unique values.
  var insertions: [(sql: String, values: [StoredValue])] {
    let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
    let sql =
      "INSERT INTO \(entity.tableName) (\(names.joined(separator: ", "))) VALUES (\(marks)) ON CONFLICT DO NOTHING"
    return rows.map { row, key in
      let values = columns.columns.map { $0.parameter(batch.value(row: row, slot: $0.slot)) }
      let keys = links.values.map { $0[row] == LinkColumns.nullKey ? StoredValue.null : .integer($0[row]) }
      return (sql, [.integer(key), .integer(Int64(entity.number)), .integer(1)] + values + keys)
    }
  }
}
