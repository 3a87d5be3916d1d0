import CSV
import OpenCoreData
import PersistentStores

/// Makes the previews of a run's inputs.
final class PreviewObserver: ChunkObserver {
  private let recordsMax: Int
  private var files: [FileCounter] = []

  init(recordsMax: Int) { self.recordsMax = recordsMax }

  var previews: [FilePreview] { files.map(\.preview) }

  func open(_ input: String, mapping: HeaderMapping, in environment: ImportEnvironment) throws(RunFailure) {
    files.append(FileCounter(input, mapping, in: environment, recordsMax: recordsMax))
  }

  func add(_ chunk: ParsedChunk, _ plan: ChunkPlan) throws { files[files.count - 1].add(chunk, plan) }
}

/// Makes the preview of one input.
private struct FileCounter {
  private let input: String
  private let texts: EntryTexts
  private let entity: NSEntityDescription
  private let ignoredFields: Int
  private let recordsMax: Int
  private let distinctMax: Int
  private var counters: [ColumnCounter]
  private var refused: [String: (count: Int, first: [RecordIssue])] = [:]
  private var (read, accepted, rejected, warned) = (0, 0, 0, 0)
  private var first: [FilePreview.Record] = []
  private var last: [FilePreview.Record] = []
  private var rejectedRecords: [FilePreview.Record] = []
  private var warnedRecords: [FilePreview.Record] = []

  init(_ input: String, _ mapping: HeaderMapping, in environment: ImportEnvironment, recordsMax: Int) {
    self.input = input
    self.recordsMax = recordsMax
    entity = environment.store.entity
    let chosen = mapping.fieldOfColumn.indices.filter { mapping.fieldOfColumn[$0] != nil }
      .sorted { mapping.fieldOfColumn[$0] ?? 0 < mapping.fieldOfColumn[$1] ?? 0 }
    let texts = EntryTexts(environment.columns, chosen, entity: entity, links: environment.links)
    self.texts = texts
    let distinctMax = PreviewBounds.distinctMax(columns: texts.columns.count)
    self.distinctMax = distinctMax
    counters = texts.columns.indices.map { ColumnCounter(texts, column: $0, distinctMax: distinctMax) }
    let parts = Set(mapping.partsOfColumn.values.joined())
    ignoredFields = mapping.columnOfField.indices.count {
      mapping.columnOfField[$0] == nil && !parts.contains($0)
    }
  }

  mutating func add(_ chunk: ParsedChunk, _ plan: ChunkPlan) {
    let rejectedHere = Set(plan.rejected)
    let batch = chunk.batch
    let rows = (0..<batch.count).filter { !rejectedHere.contains(Int(chunk.recordOfRow[$0])) }
    read += rows.count + plan.rejected.count
    accepted += rows.count
    rejected += plan.rejected.count
    let texts = texts
    let batches = counters.indices.map { texts.batch($0, of: chunk) }
    // Many columns have their first values in the same records.
    var made: [Int: FilePreview.Record] = [:]
    func record(_ row: Int) -> FilePreview.Record {
      if let record = made[row] { return record }
      let values = texts.texts(row: row, of: batches).map(Self.kept)
      let record = Self.record(Int(chunk.recordOfRow[row]), of: chunk, values: values)
      made[row] = record
      return record
    }
    for index in counters.indices { counters[index].add(batches[index], rows, record: record) }
    if first.count < recordsMax { first += rows.prefix(recordsMax - first.count).map(record) }
    last = (last + rows.suffix(recordsMax).map(record)).suffix(recordsMax)
    note(plan.issues, of: chunk, rejected: rejectedHere, rows: rows, record: record)
  }

  private mutating func note(
    _ issues: PackedIssues, of chunk: ParsedChunk, rejected rejectedHere: Set<Int>, rows: [Int],
    record: (Int) -> FilePreview.Record
  ) {
    if issues.isEmpty { return }
    for issue in issues where issue.severity == .error {
      guard let column = issue.column else { continue }
      refused[column, default: (0, [])].count += 1
      if refused[column]?.first.count ?? 0 < PreviewBounds.refusalsMax { refused[column]?.first.append(issue) }
    }
    let start = chunk.block.start.record
    let rowOfRecord = Dictionary(uniqueKeysWithValues: rows.map { (Int(chunk.recordOfRow[$0]), $0) })
    for (number, issues) in Dictionary(grouping: issues, by: \.record).sorted(by: { $0.key < $1.key }) {
      let index = Int(number) - start
      if rejectedHere.contains(index) {
        guard rejectedRecords.count < PreviewBounds.issueRecordsMax else { continue }
        var shown = Self.record(index, of: chunk, values: [])
        (shown.text, shown.reasons, shown.issues) = (chunk.shownValue(ofRecord: index), ["rejected"], issues)
        rejectedRecords.append(shown)
      } else if let row = rowOfRecord[index] {
        warned += 1
        guard warnedRecords.count < PreviewBounds.issueRecordsMax else { continue }
        var shown = record(row)
        (shown.reasons, shown.issues) = (["warning"], issues)
        warnedRecords.append(shown)
      }
    }
  }

  private static func record(_ index: Int, of chunk: ParsedChunk, values: [String?]) -> FilePreview.Record {
    FilePreview.Record(
      number: chunk.block.start.record + index, line: Int(chunk.block.records[index].line), values: values)
  }

  private static func kept(_ text: String?) -> String? {
    guard let text, text.utf8.count > PreviewBounds.charactersMax, text.count > PreviewBounds.charactersMax else {
      return text
    }
    return text.prefix(PreviewBounds.charactersMax) + "…"
  }

  // MARK: The result

  var preview: FilePreview {
    let batch = ObjectBatch(entity: entity)
    let counts = counters.map { $0.counts(batch) }
    let columns = counters.indices.map { column($0, counts[$0]) }
    return FilePreview(
      input: input, columns: columns, ignoredFields: ignoredFields, read: read, accepted: accepted,
      rejected: rejected, warned: warned, first: first,
      last: last.filter { record in !first.contains { $0.number == record.number } }, odd: odd(counts),
      distinctMax: distinctMax)
  }

  private func column(_ index: Int, _ counts: [FilePreview.Count]) -> FilePreview.Column {
    let (counter, column) = (counters[index], texts.columns[index])
    var range: (String, String)?
    var lengths: ClosedRange<Int>?
    if let least = counter.least, let greatest = counter.greatest {
      if counter.isMeasuredByLength {
        lengths = Int(least.order)...Int(greatest.order)
      } else {
        range = (least.value, greatest.value)
      }
    }
    let refused = refused[column.name]
    return FilePreview.Column(
      name: column.name, attribute: column.attribute, type: column.type, filled: counter.filled,
      distinct: counter.distinct, distinctIsExact: counter.distinctIsExact,
      frequent: Array(counts.prefix(PreviewBounds.frequentMax).filter { $0.count > 1 }), range: range,
      lengths: lengths, refused: refused?.count ?? 0, refusals: refused?.first ?? [])
  }

  /// Each record once, with every reason for which it is shown, in the order of the file.
  private func odd(_ counts: [[FilePreview.Count]]) -> [FilePreview.Record] {
    var records: [Int: FilePreview.Record] = [:]
    func add(_ record: FilePreview.Record?, _ reason: String) {
      guard let record else { return }
      records[record.number, default: record].reasons.append(reason)
    }
    for record in rejectedRecords + warnedRecords { records[record.number] = record }
    for (index, counter) in counters.prefix(PreviewBounds.oddColumnsMax).enumerated() {
      let name = texts.columns[index].name
      if let least = counter.least, let greatest = counter.greatest, least.order < greatest.order {
        if counter.isMeasuredByLength {
          add(greatest.record, "longest \(name)")
        } else {
          let isDate = texts.columns[index].type == .date
          add(least.record, "\(isDate ? "first" : "smallest") \(name)")
          add(greatest.record, "\(isDate ? "last" : "greatest") \(name)")
        }
      }
      for (_, record) in counter.rare(counts[index]) { add(record, "only one with its \(name)") }
    }
    return records.values.sorted { $0.number < $1.number }
  }
}
