import OpenCoreData

/// What is compared of the entries: the columns that both sides have.
struct ComparedColumns: Sendable {
  let texts: EntryTexts
  /// For each column of `texts` whether it is part of the key.
  let isKey: [Bool]
  let digester: RowDigester
  /// Whether entries have a key; otherwise whole records are compared.
  var hasKey: Bool { isKey.contains(true) }

  /// - Parameters:
  ///   - key: The names of the key's attributes; empty to compare whole records.
  ///   - mappings: Those of the files that are compared; a store has every attribute.
  ///   - links: What columns lead to. Whole records are compared with what names the objects; the other values of these are
  ///     none of their own.
  init(
    _ set: ColumnSet, key: [String], mappings: [HeaderMapping], entity own: NSEntityDescription, _ links: ComparedLinks?
  ) {
    let entity = links?.entity ?? own
    let chosen = set.parsers.indices.filter { index in
      let definition = set.parsers[index].definition
      if key.isEmpty, definition.relatedAttribute != nil, links?.isIdentifying(definition.attribute) == false {
        return false
      }
      return mappings.allSatisfy { $0.fieldOfColumn[index] != nil || set.parsers[index].textWhenAbsent != nil }
    }
    texts = EntryTexts(set, chosen, entity: entity)
    isKey = texts.columns.map { key.contains($0.attribute) }
    digester = RowDigester(
      keySlots: key.isEmpty ? texts.columns.map(\.slot) : key.compactMap { entity.slot(named: $0) },
      valueSlots: key.isEmpty ? [] : texts.columns.filter { !key.contains($0.attribute) }.map(\.slot))
  }
}

extension ComparedColumns {
  /// The columns of values that a row does not state, by index.
  func absent(_ row: Int, of rows: ComparedRows) -> [Int] {
    let slots = rows.absent.slots(ofRow: row)
    return slots.isEmpty ? [] : texts.columns.indices.filter { slots.contains(texts.columns[$0].slot) }
  }
}

/// Rows of one side, with their numbers and lines.
struct ComparedRows {
  let batch: ObjectBatch
  /// The numbers of the records, or of the store's entries.
  let numbers: [Int64]
  /// The lines of the records; 0 for a store.
  let lines: [Int64]
  /// What records of JSON Lines do not state.
  var absent = AbsentValues()

  func entry(_ row: Int, _ texts: EntryTexts) -> Difference.Entry {
    Difference.Entry(number: numbers[row], line: lines[row], values: texts.texts(row: row, of: batch))
  }
}

extension ComparedRows {
  /// The records of a chunk that can be imported.
  init(_ chunk: ParsedChunk, _ plan: ChunkPlan) {
    let records = plan.insertedRows.map { Int(chunk.recordOfRow[$0]) }
    self.init(
      batch: plan.inserts, numbers: records.map { Int64(chunk.block.start.record + $0) },
      lines: records.map { Int64(chunk.block.records[$0].line) }, absent: chunk.absent.ofRows(plan.insertedRows))
  }
}
