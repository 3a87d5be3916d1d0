import OpenCoreData
import PersistentStores

extension EntryTexts {
  /// The batch that has the values of a column, row by row like the chunk's own.
  func batch(_ column: Int, of chunk: ParsedChunk) -> ObjectBatch {
    guard let (number, separator) = columns[column].link,
      let values = chunk.links.first(where: { $0.link == number })
    else { return chunk.batch }
    guard let separator else { return values.batch }
    var joined = ObjectBatch(entity: RecordNameEntity.entity, rowCapacity: chunk.batch.count)
    let slots = values.batch.entity.attributeSlots.indices
    for row in 0..<chunk.batch.count {
      joined.appendRow()
      let texts = values.elements(ofRow: row).map { element in
        let cells = slots.map { values.batch.cell(row: element, slot: $0) }
        return cells.first { $0.kind != .null }.flatMap { text(column, of: $0, in: values.batch) } ?? ""
      }
      if !texts.isEmpty { joined.setText(texts.joined(separator: separator), at: 0) }
    }
    return joined
  }
}
