import OpenCoreData
import PersistentStores

/// The statistics of a run's entries that its pipeline has expectations for, counted batch by batch.
struct EntryStatistics: Sendable {
  private(set) var entries = 0
  private(set) var columns: [ColumnStatistics]
  /// False after continuing from a run that did not count them.
  private(set) var isComplete = true

  /// Nil where no statistics are expected.
  ///
  /// - Throws: The expectations that do not apply to the type of their column.
  init?(_ definition: PipelineDefinition, entity: NSEntityDescription) throws(PipelineError) {
    columns = []
    var mistakes: [PipelineError.Mistake] = []
    for (index, rule) in (definition.expect?.columns ?? []).enumerated() {
      guard let column = definition.column(of: rule).map({ definition.columns[$0] }),
        let slot = entity.slot(named: column.attribute)
      else { continue }
      let type = entity.columnTypes[column.attribute]
      if rule.newestWithinDays != nil, type != .date {
        mistakes.append(
          .init(
            path: "expect.columns[\(index)].newestWithinDays",
            message: "'\(rule.name)' is \(type?.noun ?? "no date"), which has no age; name a column of dates"))
      }
      columns.append(ColumnStatistics(rule, slot: slot))
    }
    if !mistakes.isEmpty { throw PipelineError(mistakes: mistakes) }
    if columns.isEmpty { return nil }
  }

  /// Counts the rows of a batch, whose entity is that of the statistics, without some of them.
  mutating func add(_ batch: ObjectBatch, without excluded: Set<Int>) {
    entries += batch.count - excluded.count
    for index in columns.indices { columns[index].add(batch, without: excluded) }
  }

  /// These statistics combined with those of another input.
  func merged(with other: EntryStatistics) -> EntryStatistics {
    var merged = self
    merged.entries += other.entries
    merged.isComplete = isComplete && other.isComplete
    for index in columns.indices { merged.columns[index].merge(other.columns[index]) }
    return merged
  }

  // MARK: Checkpoints

  /// As a checkpoint stores them.
  struct Kept: Sendable, Codable {
    var entries: Int
    var columns: [ColumnStatistics.Kept]
  }

  var kept: Kept? { isComplete ? Kept(entries: entries, columns: columns.map(\.kept)) : nil }

  /// Continues from what an interrupted run had counted of `records` records; nil where it counted something else.
  mutating func resume(_ kept: Kept?, afterRecords records: Int) {
    guard let kept, kept.columns.map(\.rule) == columns.map(\.rule) else {
      isComplete = records == 0
      return
    }
    entries = kept.entries
    for index in columns.indices { columns[index].resume(kept.columns[index]) }
  }
}
