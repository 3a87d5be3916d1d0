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
  /// - Parameter refuse: Is given the rows that the table can't hold; they are left out.
  func copy(_ connection: PostgreSQLConnection, refuse: (_ row: Int, _ problem: String) -> Void) throws {
    var (next, isBegun, isEnded) = (0, false, false)
    _ = try connection.copyIn(
      "COPY \(entity.tableName) (\(names.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
    ) { buffer in
      if isEnded { return }
      if !isBegun {
        isBegun = true
        buffer += CopyFormat.header
      }
      while next < rows.count, buffer.count < Self.bufferBytes {
        let start = buffer.count
        if let problem = append(rows[next], to: &buffer) {
          buffer.removeLast(buffer.count - start)
          refuse(rows[next].row, problem)
        }
        next += 1
      }
      if next == rows.count {
        isEnded = true
        buffer += CopyFormat.trailer
      }
    }
  }

  private func append(_ one: (row: Int, key: Int64), to buffer: inout [UInt8]) -> String? {
    buffer.append(bigEndian: Int16(3 + columns.columns.count + links.names.count))
    buffer.append(copied: one.key)
    buffer.append(bigEndian: Int32(4))
    buffer.append(bigEndian: Int32(entity.number))
    buffer.append(bigEndian: Int32(4))
    buffer.append(bigEndian: Int32(1))
    for column in columns.columns {
      if let problem = column.append(batch.cell(row: one.row, slot: column.slot), of: batch, to: &buffer) {
        return "\(batch.entity.attributeSlots[column.slot].name): \(problem)"
      }
    }
    for values in links.values {
      if values[one.row] == LinkColumns.nullKey {
        buffer.appendCopiedNull()
      } else {
        buffer.append(copied: values[one.row])
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
