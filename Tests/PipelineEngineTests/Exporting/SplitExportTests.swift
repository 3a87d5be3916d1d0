import Foundation
import OpenCoreData
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// A split export: every entry is in one file, every file is whole, and of a run that ends early there is none.
@Suite struct SplitExportTests {
  private let folder: TemporaryFolder
  private let store: String

  init() async throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
    let text = """
      date,location,rating
      2020-03-01T00:00:00Z,first of March,1
      2020-02-29T23:59:59.999Z,last of February,2
      ,no date,3
      2019-02-10T10:00:00Z,a year before,4
      2020-02-01T00:00:00Z,first of February,5
      ,no date either,
      -0044-03-15T12:00:00Z,Ides,1

      """
    var definition = PipelineDefinition.plain()
    definition.columns[0].rules = []
    let summary = try await run(definition, .import, inputs: [try folder.write(text, to: "in.csv")], store: store)
    try #require(summary.counts.inserted == 7)
  }

  private func export(
    _ output: String, chunkRows: Int = 2, _ change: (inout ExportDefinition) -> Void
  ) async throws -> RunSummary {
    var export = ExportDefinition(columns: [.init("location")])
    change(&export)
    return try await run(
      .plain {
        $0.export = export
        $0.chunkRows = chunkRows
      }, .export, store: store
    ) { $0.output = folder.path(output) }
  }

  private var outputs: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter {
        $0.hasPrefix("out") || $0.hasPrefix(".out")
      }
      .sorted()
    }
  }

  @Test(arguments: [1, 2, 3, 7, 100])
  func `By rows each file has a header and so many entries, the last the rest`(rows: Int) async throws {
    let summary = try await export("out.csv") { $0.split = .rows(rows) }
    let count = (7 + rows - 1) / rows
    #expect(summary.outputs.map(\.path) == (1...count).map { folder.path("out-0000\($0).csv") })
    #expect(summary.outputs.map(\.records) == (0..<count).map { min(rows, 7 - $0 * rows) })
    #expect(summary.exported == 7)
    var lines: [Substring] = []
    for index in 1...count {
      let file = try folder.text("out-0000\(index).csv").split(separator: "\n")
      #expect(file[0] == "location")
      lines += file.dropFirst()
    }
    #expect(lines.first == "first of March")
    #expect(lines.count == 7)
    #expect(try outputs.count == count)
  }

  @Test func `An export of nothing has one file by rows and none by month`() async throws {
    let rows = try await export("out.csv") {
      $0.split = .rows(3)
      $0.predicate = "rating == 77"
    }
    #expect(rows.outputs.map(\.records) == [0])
    #expect(try folder.text("out-00001.csv") == "location\n")
    let months = try await export("out-m.csv") {
      $0.split = .month("date")
      $0.predicate = "rating == 77"
    }
    #expect(months.outputs.isEmpty)
    #expect(months.exitCode == .ok)
    #expect(try outputs == ["out-00001.csv"])
  }

  @Test(arguments: [1, 2, 100])
  func `By month the entries come in the order of their dates, those without one in a file of their own`(
    chunkRows: Int
  ) async throws {
    let summary = try await export("out-{month}.csv", chunkRows: chunkRows) { $0.split = .month("date") }
    #expect(
      try outputs == ["out--0044-03.csv", "out-2019-02.csv", "out-2020-02.csv", "out-2020-03.csv", "out-undated.csv"])
    #expect(try folder.text("out-2020-02.csv") == "location\nfirst of February\nlast of February\n")
    #expect(try folder.text("out-undated.csv") == "location\nno date\nno date either\n")
    #expect(summary.outputs.map(\.records) == [2, 1, 1, 2, 1])
  }

  @Test func `By month another order within it, or the latest month first, may be asked for`() async throws {
    let summary = try await export("out.csv") {
      $0.split = .month("date")
      $0.sort = [.init("date", ascending: false), .init("rating")]
    }
    #expect(summary.outputs.map(\.records) == [1, 2, 1, 1, 2])
    #expect(try folder.text("out-2020-02.csv") == "location\nlast of February\nfirst of February\n")
  }

  @Test func `A run that fails or is cancelled leaves no file of its own and older ones as they were`() async throws {
    _ = try folder.write("older", to: "out-00001.csv")
    // The third file can't be made: its name is a folder's.
    try FileManager.default.createDirectory(atPath: folder.path("out-00003.csv"), withIntermediateDirectories: true)
    let failed = try await export("out.csv") {
      $0.split = .rows(2)
      $0.hash = true
    }
    #expect(failed.outcome == .failed)
    #expect(failed.outputs.isEmpty && failed.exported == 0)
    #expect(try outputs == ["out-00001.csv", "out-00003.csv"])
    #expect(try folder.text("out-00001.csv") == "older")
    var options = RunOptions()
    options.store = store
    options.output = folder.path("out.csv")
    options.model = RunModel.make()
    let runner = PipelineRunner(
      .plain {
        $0.chunkRows = 1
        $0.export = ExportDefinition(split: .rows(1))
      }, .export, options: options)
    runner.cancel()
    #expect(try await runner.run().outcome == .cancelled)
    #expect(try outputs == ["out-00001.csv", "out-00003.csv"])
  }

  @Test func `Of files that can't all be named, those named already are taken back`() async throws {
    var export = ExportDefinition(columns: [.init("rating")], split: .rows(2), hash: true)
    export.output = folder.path("out.csv")
    let entity = try #require(RunModel.make().entitiesByName["JournalEntry"])
    var batch = ObjectBatch(entity: entity, rowCapacity: 5)
    for rating in 1...5 {
      batch.appendRow()
      batch.setInteger(Int64(rating), at: try #require(entity.slot(named: "rating")))
    }
    _ = try folder.write("older", to: "out-00001.csv")
    var files = ExportFiles(
      export, try OutputTemplate(folder.path("out.csv"), split: export.split), names: ["rating"], storePath: store,
      startedAt: Date(), unless: { false })
    var formatter = try EntryFormatter(export, entity: entity)
    try files.begin()
    try files.write(batch, with: &formatter) { _, _ in Issue.record("refused") }
    // What the third file is to be called became a folder meanwhile.
    try FileManager.default.createDirectory(atPath: folder.path("out-00003.csv"), withIntermediateDirectories: true)
    do {
      _ = try files.commit()
      Issue.record("a folder was replaced")
    } catch {
      #expect(error.code == .write)
    }
    files.cancel()
    // An older file that was replaced is not brought back, but what is under its name is whole.
    #expect(try outputs == ["out-00001.csv", "out-00003.csv"])
    #expect(try folder.text("out-00001.csv") == "rating\n1\n2\n")
  }

  static let mistakes: [(id: String, change: @Sendable (inout ExportDefinition) -> Void, line: String)] = [
    (
      "no such attribute", { $0.split = .month("day") },
      "export.split.month: JournalEntry has no date 'day'; months are"
    ),
    ("no date", { $0.split = .month("rating") }, "export.split.month: JournalEntry has no date 'rating'"),
    (
      "another order",
      {
        $0.split = .month("date")
        $0.sort = [.init("rating")]
      }, "export.sort: files by month are written one after the other; begin with 'date'"
    ),
    (
      "a limit with a sort",
      {
        $0.incremental = true
        $0.limit = 3
        $0.sort = [.init("rating")]
      }, "export.incremental: with a limit and a sort"
    ),
  ]

  @Test(arguments: 0..<4)
  func `What can't be done is said before anything is`(index: Int) async throws {
    let mistake = Self.mistakes[index]
    let error = await #expect(throws: PipelineError.self) { try await export("out.csv", mistake.change) }
    #expect(error?.description.contains(mistake.line) == true, "\(error?.description ?? "")")
    #expect(try outputs.isEmpty)
  }

  @Test func `Standard output takes neither a split nor an increment nor a hash file`() async throws {
    for key in ["split", "incremental", "hash"] {
      let error = await #expect(throws: PipelineError.self) {
        try await run(
          .plain {
            $0.export = ExportDefinition(
              split: key == "split" ? .rows(1) : nil, incremental: key == "incremental", hash: key == "hash")
          }, .export, store: store
        ) { $0.output = "-" }
      }
      #expect(error?.path == "export.\(key)")
    }
  }

  @Test func `There is no path for a file next to what is not a file`() async throws {
    for key in ["incremental", "hash"] {
      let error = await #expect(throws: PipelineError.self) {
        try await run(
          .plain { $0.export = ExportDefinition(incremental: key == "incremental", hash: key == "hash") }, .export,
          store: store
        ) { $0.output = "/dev/null" }
      }
      #expect(error?.path == "export.\(key)")
    }
  }

  @Test(.seeded) func `Months are those of Python's calendar`() throws {
    var random = Randomness.generator()
    let seconds = (0..<TestLength.rounds(2000, long: 50_000)).map { index -> Double in
      let day = Double(Int.random(in: -700_000...2_900_000, using: &random)) * 86_400
      return index % 3 == 0 ? day : day + Double.random(in: -1...86_400, using: &random)
    }
    let script = """
      import sys, datetime, fractions
      for l in sys.stdin:
          d = datetime.datetime(2001, 1, 1) + datetime.timedelta(seconds=int(fractions.Fraction(float(l)) // 1))
          print("%04d-%02d" % (d.year, d.month))
      """
    var months = MonthNames()
    let sorted = seconds.sorted()
    let names = sorted.map { months.name(of: ValueCell(real: $0)) }
    #expect(try pythonLines(script, sorted.map { "\($0)" }) == names)
    var others = MonthNames()
    #expect(seconds.map { others.name(of: ValueCell(real: $0)) }.sorted() == names.sorted())
    #expect(months.name(of: .null) == "undated")
    #expect([Double.infinity, -.infinity].map { months.name(of: ValueCell(real: $0)) } == ["after", "before"])
  }
}
