import DefinitionTestSupport
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

@Suite("Where inputs replace what they inserted, replays add, and --again replaces an input by itself")
struct ReplacingReplayTests {
  private let folder: TemporaryFolder
  private let store: String
  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
  }

  private let definition = PipelineDefinition.plain { $0.changedInputs = .replace }

  private var places: String {
    get throws {
      try sqlite(store, "SELECT group_concat(ZLOCATION, '') FROM (SELECT * FROM ZJOURNALENTRY ORDER BY Z_PK)")
    }
  }

  @Test func `A second replay of a file of rejects leaves what the first one stored`() async throws {
    let input = try folder.write("date,location,rating\n2020-01-01,A,1\nsoon,B,2\nlater,C,3\n", to: "log.csv")
    let rejects = try #require(try await run(definition, .import, inputs: [input], store: store).rejects)
    for (text, expected) in [("2020-01-02,B,2\nlater,C,3\n", "AB"), ("2020-01-03,C,3\n", "ABC")] {
      try "date,location,rating\n\(text)".write(toFile: rejects, atomically: false, encoding: .utf8)
      let replay = try await run(definition, .import, inputs: [rejects], store: store) { $0.isReplay = true }
      #expect(replay.counts.inserted == 1, "\(replay.failure?.message ?? "")")
      #expect(try places == expected)
    }
  }

  @Test func `What a growing input has gained is added, also where most of it is in the store`() async throws {
    var growing = definition
    growing.appendOnly = true
    let input = try folder.write("date,location,rating\n2020-01-01,A,1\n", to: "log.csv")
    _ = try await run(growing, .import, inputs: [input], store: store)
    try folder.write(try folder.text("log.csv") + "2020-01-01,A,1\n", to: "log.csv")
    let summary = try await run(growing, .import, inputs: [input], store: store)
    #expect(summary.counts.inserted == 1, "\(summary.failure?.message ?? "")")
    #expect(try places == "AA")
  }

  @Test func `An undo of an input that was not imported to its end takes its unfinished rejects with it`() async throws
  {
    let stopping = PipelineDefinition.plain {
      $0.errorBudget = ErrorBudget(errors: 1)
      $0.chunkRows = 2
    }
    let input = try folder.write("date,location,rating\n2020-01-01,A,1\nsoon,B,2\nlater,C,3\n", to: "log.csv")
    #expect(try await run(stopping, .import, inputs: [input], store: store).outcome == .stopped)
    #expect(folder.exists("log.csv.rejects.csv.part"))
    try StoreUndo(store: store, vocabulary: .journal).apply()
    #expect(try folder.names == ["log.csv", "store.sqlite"])
  }

  @Test func `A transaction that is rolled back takes only the rejects that it has begun`() async throws {
    func stopped(after errors: Int, _ changed: PipelineDefinition.ChangedInputPolicy) async throws -> [String] {
      let stopping = PipelineDefinition.plain {
        $0.errorBudget = ErrorBudget(errors: errors)
        ($0.chunkRows, $0.changedInputs) = (2, changed)
      }
      #expect(try await run(stopping, .import, inputs: [folder.path("log.csv")], store: store).outcome == .stopped)
      return try folder.names.filter { $0.hasSuffix(".part") }
    }
    let records = ["2020-01-01,A,1", "2020-01-02,B,1", "soon,C,1", "2020-01-04,D,1", "soon,E,1", "2020-01-06,F,1"]
    try folder.write("date,location,rating\n" + records.joined(separator: "\n") + "\n", to: "log.csv")
    #expect(try await stopped(after: 0, .refuse) == [])
    #expect(try await stopped(after: 1, .onlyNew) == [])
    let begun = try await stopped(after: 1, .refuse)
    #expect(begun.count == 2)
    #expect(try await stopped(after: 1, .onlyNew) == begun)
    #expect(try places == "ABD")
  }

  @Test func `A file that replaces an interrupted input of another name removes its unfinished rejects`() async throws {
    let stopping = PipelineDefinition.plain {
      $0.errorBudget = ErrorBudget(errors: 1)
      $0.chunkRows = 2
    }
    let head = "date,location,rating\n2020-01-01,A,1\n2020-01-02,B,1\nsoon,C,1\n2020-01-04,D,1\n"
    let input = try folder.write(head + "soon,E,1\n", to: "log.csv")
    #expect(try await run(stopping, .import, inputs: [input], store: store).outcome == .stopped)
    #expect(folder.exists("log.csv.rejects.csv.part"))
    let corrected = try folder.write(head.replacingOccurrences(of: "soon", with: "2020-01-03"), to: "new.csv")
    let summary = try await run(definition, .import, inputs: [corrected], store: store)
    #expect(summary.outcome == .completed, "\(summary.failure?.message ?? "")")
    #expect(try folder.names == ["log.csv", "new.csv", "store.sqlite"])
    #expect(try places == "ABCD")
  }

  @Test func `Again replaces an input by itself, whether it has changed or not`() async throws {
    let input = try folder.write("date,location,rating\n2020-01-01,A,1\n2020-01-02,B,1\n", to: "log.csv")
    for (text, expected) in [("", "AB"), ("", "AB"), ("2020-01-03,C,1\n", "ABC")] {
      try folder.write(try folder.text("log.csv") + text, to: "log.csv")
      let summary = try await run(definition, .import, inputs: [input], store: store) { $0.again = true }
      #expect(summary.outcome == .completed, "\(summary.failure?.message ?? "")")
      #expect(try places == expected)
    }
  }
}
