import OpenCoreData
import PersistentStores

/// Rows with what they lead to: an entry's own attributes, and a text for each column that leads over a relationship.
///
/// Both sides have the same texts for the same values. Names of a to-many relationship are sorted unless it is ordered, and
/// each is there once.
struct ComparedLinks: Sendable {
  /// A column that leads over a relationship.
  private struct Column: Sendable {
    /// The index of the relationship among the links.
    let link: Int
    /// The slot of the related entity.
    let related: Int
    /// The slot of the compared entity.
    let slot: Int
    let isIdentifying: Bool
  }

  /// What stands for the entity: its attributes, and those of the columns, by their paths.
  let entity: NSEntityDescription
  private let model: NSManagedObjectModel
  private let own: NSEntityDescription
  private let links: [EntityLink]
  private let texts: EntryTexts
  private let columns: [Column]

  init(_ set: ColumnSet, entity own: NSEntityDescription, _ links: [EntityLink]) {
    (self.own, self.links) = (own, links)
    let chosen = set.parsers.indices.filter { index in links.contains { $0.columns.contains(set.parsers[index].column) }
    }
    let plain = links.map { link in
      var link = link
      link.separator = nil
      return link
    }
    let texts = EntryTexts(set, chosen, entity: own, links: plain)
    self.texts = texts
    let entity = NSEntityDescription()
    entity.name = own.name
    let attributes =
      own.attributeSlots.map { ($0.name, $0.attributeType) }
      + texts.columns.map { ($0.attribute, NSAttributeType.stringAttributeType) }
    entity.properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
      return attribute
    }
    model = NSManagedObjectModel()
    model.entities = [entity]
    model.freeze()
    self.entity = entity
    columns = texts.columns.map { column in
      let link = column.link?.number ?? 0
      return Column(
        link: link, related: column.slot, slot: entity.slot(named: column.attribute) ?? 0,
        isIdentifying: links[link].identifyingSlots.contains(column.slot))
    }
  }

  /// Whether a column names objects, and does not only say something of them.
  func isIdentifying(_ attribute: String) -> Bool {
    zip(texts.columns, columns).contains { $0.attribute == attribute && $1.isIdentifying }
  }

  /// The entity's own attributes among these names.
  func ownAttributes(_ names: Set<String>) -> Set<String> { names.filter { own.slot(named: $0) != nil } }

  // MARK: Rows

  /// The records of a chunk that can be imported.
  func rows(_ chunk: ParsedChunk, _ plan: ChunkPlan) -> ComparedRows {
    let bare = ComparedRows(chunk, plan)
    var absent = AbsentValues()
    let batch = batch(of: bare.batch) { row, batch in
      let record = plan.insertedRows[row]
      for slot in bare.absent.slots(ofRow: row) where slot < own.attributeSlots.count {
        if let slot = entity.slot(named: own.attributeSlots[slot].name) { absent.append(row: row, slot: slot) }
      }
      for (number, column) in columns.enumerated() {
        guard let values = chunk.links.first(where: { $0.link == column.link }) else { continue }
        let elements = values.elements(ofRow: record)
        let said = elements.map { text(number, values.batch, row: $0) }
        set(said, column, in: &batch)
        let isStated = !bare.absent.slots(ofRow: row).contains(AbsentValues.slot(ofLink: column.link, own))
        // An empty field says nothing of an object that the record names.
        let isSilent = !column.isIdentifying && said == [nil] && values.digests[elements.lowerBound] != .none
        if !isStated || isSilent { absent.append(row: row, slot: column.slot) }
      }
    }
    return ComparedRows(batch: batch, numbers: bare.numbers, lines: bare.lines, absent: absent)
  }

  /// Entries of the store that `context` reads; called on its queue.
  func rows(_ bare: ObjectBatch, _ ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws -> ObjectBatch {
    var related: [Int: (lists: [[NSManagedObjectID]], rows: [NSManagedObjectID: Int], values: ObjectBatch)] = [:]
    for index in Set(columns.map(\.link)) {
      let lists = try context.related(links[index].relationship, of: ids)
      let all = Array(Set(lists.joined()))
      var values = ObjectBatch(entity: links[index].entity, rowCapacity: all.count)
      for (id, row) in zip(all, try context.storedValues(withIDs: all)) {
        values.appendRow()
        for (slot, attribute) in links[index].entity.attributeSlots.enumerated() {
          guard let row, let stored = id.entity.slot(named: attribute.name) else { continue }
          values.setValue(row[stored], row: values.count - 1, slot: slot)
        }
      }
      let rows = Dictionary(uniqueKeysWithValues: zip(all, all.indices))
      related[index] = (lists, rows, values)
    }
    return batch(of: bare) { row, batch in
      for (number, column) in columns.enumerated() {
        guard let (lists, rows, values) = related[column.link] else { continue }
        let texts = lists[row].compactMap { rows[$0] }.map { text(number, values, row: $0) }
        set(texts, column, in: &batch)
      }
    }
  }

  private func text(_ number: Int, _ batch: ObjectBatch, row: Int) -> String? {
    texts.text(number, of: batch.cell(row: row, slot: columns[number].related), in: batch)
  }

  /// Copies the rows, and calls `body` for each to set what it leads to.
  private func batch(of bare: ObjectBatch, _ body: (Int, inout ObjectBatch) -> Void) -> ObjectBatch {
    let slots = own.attributeSlots.map { entity.slot(named: $0.name) }
    var batch = ObjectBatch(entity: entity, rowCapacity: bare.count)
    for row in 0..<bare.count {
      batch.appendRow()
      for (slot, copied) in slots.enumerated() {
        if let copied { batch.setValue(bare.value(row: row, slot: slot), row: row, slot: copied) }
      }
      body(row, &batch)
    }
    return batch
  }

  private func set(_ texts: [String?], _ column: Column, in batch: inout ObjectBatch) {
    let relationship = links[column.link].relationship
    var all = texts.compactMap(\.self).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    if relationship.isToMany, !relationship.isOrdered { all.sort() }
    let separator = links[column.link].separator.map { String(decoding: $0, as: UTF8.self) } ?? ""
    if !all.isEmpty { batch.setText(all.joined(separator: separator), at: column.slot) }
  }
}
