import CSV
import Foundation
import OpenCoreData
import PipelineEngine
import SurfJournal

/// The examples in the documentation of CSV, pipelines and the journal, compiled. A change of an example
/// changes both places.
private enum DocExamplesPipeline {
  static func undo() throws {
    let undo = try StoreUndo(store: "journal.sqlite", vocabulary: .journal)
    print("\(undo.preview.deleted) entries would be deleted")
    try undo.apply()
  }

  static func storeTables() throws {
    let tables = try StoreTables(store: "surfing.sqlite", vocabulary: .journal)
    for export in tables.exports { print(export.entity) }
  }

  static func compact() throws {
    let compaction = try LedgerHistory.compact(store: "journal.sqlite", vocabulary: .journal, historyDays: 365)
    print("\(compaction?.runsRemoved ?? 0) runs are no longer listed")
  }

  // MARK: CSV

  static func dialect() throws {
    var dialect = CSVDialect.semicolon
    dialect.hasHeader = false
    dialect.columns = ["date", "location", "rating"]
    try dialect.validate()
  }

  static func encoding() throws {
    var dialect = CSVDialect.semicolon
    dialect.encoding = CSVEncoding(named: "windows-1252")
    try dialect.validate()
  }

  static func reader() throws {
    let reader = try CSVReader(ByteSource(path: "surf-log.csv"), dialect: .semicolon)
    var block = RecordBlock()
    while try reader.next(into: &block, recordsMax: 1000) {
      for record in block.records {
        print(record.line, block.fields(of: record).map { block.string(of: $0) })
      }
    }
  }

  static func overview() throws {
    let reader = try CSVReader(ByteSource(path: "surf-log.csv.gz"))
    var block = RecordBlock()
    while try reader.next(into: &block, recordsMax: 5000) {
      for record in block.records {
        for field in block.fields(of: record) { print(record.line, block.string(of: field)) }
      }
    }
  }

  static func sink() throws {
    let sink = try ByteSink(path: "surf-log.csv.gz", compression: .gzip)
    try sink.write("date,location\n")
    try sink.commit()
  }

  static func writer() throws {
    let sink = try ByteSink(path: "surf-log.csv")
    var writer = try CSVWriter(sink)
    try writer.write(["date", "location"])
    try writer.write(["2014-07-14", "Rincon, CA"])
    try writer.flush()
    try sink.commit()
  }

  static func header() throws {
    let reader = try CSVReader(ByteSource(path: "surf-log.csv"))
    let names = try reader.readHeader()?.names ?? []
    _ = names
  }

  static func fields(writer: inout CSVWriter) throws {
    try writer.append(field: "2014-07-14")
    writer.appendNull()
    try writer.endRecord()
  }

  static func source() throws {
    let source = try ByteSource(path: "surf-log.csv.gz")
    var text: [UInt8] = []
    while try source.read(appendingTo: &text) > 0 {}
    print(source.name, source.consumedBytes, source.inflatedBytes)
  }

  // MARK: Runs

  static func runner() async throws {
    let definition = try PipelineDefinition(contentsOf: URL(fileURLWithPath: "Pipelines/surf-log.json"))
    var options = RunOptions()
    options.inputs = ["surf-log.csv.gz"]
    options.store = "journal.sqlite"
    let runner = PipelineRunner(definition, .import, options: options)
    let summary = try await runner.run()
    _ = summary
  }

  static func runnerWithProgress() async throws {
    let definition = try PipelineDefinition(contentsOf: URL(fileURLWithPath: "Pipelines/surf-log.json"))
    var options = RunOptions()
    options.inputs = ["surf-log.csv.gz"]
    options.store = "journal.sqlite"
    let runner = PipelineRunner(definition, .import, options: options)
    Task {
      for await step in runner.progress { print(step.records) }
    }
    let summary = try await runner.run()
    _ = summary
  }

  static func progress(runner: PipelineRunner) async throws {
    let reporting = Task {
      for await state in runner.progress { print(state.file, state.records, state.rejected) }
    }
    let summary = try await runner.run()
    await reporting.value
    _ = summary
  }

  static func options() -> RunOptions {
    var options = RunOptions()
    options.inputs = ["surf-log.csv"]
    options.store = "journal.sqlite"
    options.reports = ["report.html"]
    options.timeoutSeconds = 600
    return options
  }

  static func summary(runner: PipelineRunner) async throws {
    let summary = try await runner.run()
    print(summary.outcome, summary.counts.inserted, summary.counts.rejected)
    if let failure = summary.failure { print(failure.message) }
  }

  // MARK: Definitions

  static func definition() throws {
    var definition = PipelineDefinition(
      name: "club",
      columns: [ColumnDefinition("date", rules: [ValueRule(.required)]), ColumnDefinition("location")],
      key: ["date"], entity: "JournalEntry")
    definition.chunkRows = 10_000
    try definition.check()
  }

  static func definitionFile() throws {
    let file = URL(fileURLWithPath: "Pipelines/surf-log.json")
    let definition = try PipelineDefinition(contentsOf: file)
    _ = definition
  }

  static func column() {
    var rating = ColumnDefinition("rating", rules: [ValueRule(.range(min: 1, max: 5))])
    rating.synonyms = ["stars"]
  }

  static func linkedColumn() {
    var spot = ColumnDefinition("spot", attribute: "spot.name")
    spot.link = LinkDefinition(by: ["name"], ifMissing: .create)
  }

  static func definedDialect() {
    var dialect = DialectDefinition.rfc4180
    dialect.delimiter = ";"
    dialect.decimalChar = ","
    dialect.nullSequences = ["\\N"]
  }

  static func expectations() {
    var expect = ExpectDefinition()
    expect.records = .init(min: 10, maxPercentOfMean: 200)
    expect.columns = [.init("rating", emptyPercentMax: 20, distinctMin: 2)]
  }

  static func dateFormat() throws {
    let format = try DateFormat("M/d/yy")
    let seconds = format.seconds(Array("7/14/14".utf8).span)
    _ = seconds
  }

  static func presets() throws {
    var definition = PipelineDefinition.surfLog
    definition.key = ["date", "location"]
    definition.duplicates = .update(columns: nil)
    try definition.check()
  }

  // MARK: Journal

  static func run() async throws {
    var options = RunOptions()
    options.inputs = ["surf-log.csv.gz"]
    options.store = "journal.sqlite"
    let runner = PipelineRunner(.surfLog, .import, options: options)
    let summary = try await runner.run()
    print(summary.text())
  }

  static func stack() throws {
    let stack = try CoreDataStack()
    let entries = try stack.mainContext.fetch(JournalEntry.fetchRequest())
    _ = entries
  }

  static func editor() throws {
    let editor = JournalEditor(store: "journal.sqlite")
    var changes = JournalChanges()
    try changes.set("rating", to: "5")
    let edit = try editor.edit("12", changes)
    if edit.isEmpty { edit.discard() } else { try edit.save() }
  }

  static func editingByHand() throws {
    let editor = JournalEditor(store: "journal.sqlite")
    var changes = JournalChanges()
    try changes.set("rating", to: "5")
    try changes.clear("wind")
    let edit = try editor.edit("12", changes)
    print(edit.entries[0].difference)
    try edit.save()
  }

  static func notifications() {
    var notify = NotifyDefinition()
    notify.ping = .init(.file("secrets/ping"))
    notify.mails = [.init(to: ["surfer@example.org"], on: [.failure, .recovery])]
    let token = SecretText.file("secrets/token")
    print(token)  // •••
    print(notify)
  }

  static func read() {
    let read = ReadDefinition(run: ["hdfs", "dfs", "-cat", "{path}"])
    print(read.words(path: "/logs/a.csv"))
    let words = ReadDefinition(run: ["cat", "{path}"]).words(path: "a.csv")
    print(words)
  }

  static func retention() {
    var retention = RetentionDefinition()
    retention.reports = .init(days: 400)
    retention.processed = .init(days: 30, count: 1000)
    print(retention)
  }

  static func copy() throws {
    let count = try StoreCopy.copy(
      "journal.sqlite", to: "postgresql://loader@db.example/journal", vocabulary: .journal)
    print("\(count) objects")
  }
}
