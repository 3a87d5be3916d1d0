import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

@Suite("A run stops when its error budget is spent, and says exactly what is in the store")
struct ErrorBudgetTests {
  private let folder: TemporaryFolder
  private let store: String
  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
  }

  /// Every fifth record is bad.
  private static func dirty(_ count: Int) -> String {
    let lines = log(count).split(separator: "\n")
    return lines.enumerated().map { $0 > 0 && $0 % 5 == 0 ? "never,X,1" : String($1) }.joined(separator: "\n") + "\n"
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let budget: ErrorBudget
    /// Of 60 records in chunks of ten; nil where the run goes on to the end.
    let savedRecords: Int?
    /// Errors that are reported.
    let errors: Int
    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "none", budget: ErrorBudget(errors: 0), savedRecords: 0, errors: 1),
    Case(name: "three errors", budget: ErrorBudget(errors: 3), savedRecords: 10, errors: 4),
    Case(name: "four errors", budget: ErrorBudget(errors: 4), savedRecords: 20, errors: 5),
    Case(name: "as many as there are", budget: ErrorBudget(errors: 12), savedRecords: nil, errors: 12),
    Case(name: "nineteen percent", budget: ErrorBudget(percent: 19), savedRecords: 0, errors: 2),
    Case(name: "twenty percent", budget: ErrorBudget(percent: 20), savedRecords: nil, errors: 12),
    Case(name: "whichever comes first", budget: ErrorBudget(errors: 5, percent: 50), savedRecords: 20, errors: 6),
  ]

  @Test("Whole chunks before the stop stay", arguments: cases)
  func budgets(one: Case) async throws {
    let definition = PipelineDefinition.plain {
      $0.errorBudget = one.budget
      $0.chunkRows = 10
    }
    let input = try folder.write(Self.dirty(60), to: "log.csv")
    let dry = try await run(definition, .validate, inputs: [input], store: store)
    let summary = try await run(definition, .import, inputs: [input], store: store)
    #expect(dry.counts == summary.counts)
    #expect(dry.issues == summary.issues)
    #expect(dry.stopReason == summary.stopReason)
    #expect(summary.outcome == (one.savedRecords == nil ? .completed : .stopped))
    #expect(summary.issues.errors == one.errors)
    #expect(summary.exitCode == .dataError)
    let saved = one.savedRecords ?? 60
    #expect(summary.counts == RunCounts(read: saved, inserted: saved - saved / 5, rejected: saved / 5))
    #expect(try sqlite(store, "SELECT count(*) FROM ZJOURNALENTRY") == "\(saved - saved / 5)")
    if one.savedRecords == nil {
      #expect(summary.stopReason == nil)
    } else {
      let extent =
        saved == 0 ? "nothing of \(input) was imported" : "only records 1 to \(saved) of \(input) were imported"
      #expect(summary.stopReason?.hasSuffix("; \(extent)") == true)
    }
  }

  @Test("The errors of all inputs and of the part before an interruption count together")
  func together() async throws {
    let definition = PipelineDefinition.plain {
      $0.errorBudget = ErrorBudget(errors: 3)
      $0.chunkRows = 10
    }
    let inputs = [
      try folder.write(Self.dirty(10), to: "a.csv"),
      try folder.write(Self.dirty(20).replacingOccurrences(of: "Spot", with: "Beach"), to: "b.csv"),
    ]
    let summary = try await run(definition, .import, inputs: inputs, store: store)
    #expect(summary.outcome == .stopped)
    #expect(summary.counts == RunCounts(read: 10, inserted: 8, rejected: 2))
    #expect(summary.issues.errors == 4)
  }

  // MARK: All or nothing

  @Test("An atomic run that is stopped leaves nothing of itself", arguments: [false, true])
  func atomicStop(hasStore: Bool) async throws {
    if hasStore {
      _ = try await run(
        .plain(), .import,
        inputs: [try folder.write(log(7).replacingOccurrences(of: "Spot", with: "Old"), to: "old.csv")],
        store: store)
    }
    let definition = PipelineDefinition.plain {
      $0.errorBudget = ErrorBudget(errors: 3)
      $0.atomic = true
      $0.chunkRows = 10
    }
    let before = hasStore ? try Self.dump(store) : nil
    let inputs = [try folder.write(log(25), to: "a.csv"), try folder.write(Self.dirty(60), to: "b.csv")]
    let dry = try await run(definition, .validate, inputs: inputs, store: store)
    let summary = try await run(definition, .import, inputs: inputs, store: store)
    #expect(summary.outcome == .stopped)
    #expect(summary.counts == RunCounts())
    #expect(dry.counts == summary.counts)
    #expect(dry.issues == summary.issues)
    #expect(summary.stopReason?.hasSuffix("nothing of this run is in the store") == true)
    #expect(summary.rejects == nil)
    if let before {
      #expect(try Self.dump(store) == before)
    } else {
      #expect(try sqlite(store, "SELECT count(*) FROM ZJOURNALENTRY") == "0")
    }
    #expect(try folder.names.filter { $0.contains("rejects") } == [])
    // It is not resumed either: all of it goes in once the budget allows.
    let whole = PipelineDefinition.plain { $0.atomic = true }
    let second = try await run(whole, .import, inputs: inputs, store: store)
    #expect(second.inputs.map(\.state) == [.imported, .imported])
    #expect(second.counts == RunCounts(read: 85, inserted: 73, rejected: 12))
    #expect(try await run(whole, .import, inputs: inputs, store: store).isNothingNew)
  }

  @Test("An atomic run with keys sees its own entries, and its updates go with it")
  func atomicKeys() async throws {
    let definition = PipelineDefinition.plain {
      $0.key = ["location"]
      $0.duplicates = .update(columns: nil)
      $0.atomic = true
      $0.chunkRows = 2
    }
    let header = "date,location,rating\n"
    _ = try await run(
      definition, .import, inputs: [try folder.write(header + "2020-01-01,A,1\n", to: "old.csv")], store: store)
    let good = header + "2020-01-01,A,2\n2020-01-02,B,1\n2020-01-03,C,1\n2020-01-02,B,5\n2020-01-01,A,2\n"
    var budget = definition
    budget.errorPolicy = .stop
    let stopped = try await run(
      budget, .import, inputs: [try folder.write(good + "never,D,1\n", to: "bad.csv")], store: store)
    #expect(stopped.outcome == .stopped)
    #expect(try sqlite(store, "SELECT ZLOCATION, ZRATING, Z_OPT FROM ZJOURNALENTRY") == "A|1|1")
    let summary = try await run(definition, .import, inputs: [try folder.write(good, to: "good.csv")], store: store)
    #expect(summary.counts == RunCounts(read: 5, inserted: 2, updated: 1, repeated: 2))
    #expect(
      try sqlite(store, "SELECT Z_PK, ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK") == "1|A|2\n2|B|5\n3|C|1")
  }

  @Test("An input that can't be read rolls an atomic run back")
  func atomicFailure() async throws {
    let inputs = [try folder.write(log(5), to: "a.csv"), folder.path("missing.csv")]
    let summary = try await run(.plain { $0.atomic = true }, .import, inputs: inputs, store: store)
    #expect(summary.outcome == .failed)
    #expect(summary.exitCode == .noInput)
    #expect(summary.counts == RunCounts())
    #expect(try sqlite(store, "SELECT count(*) FROM ZJOURNALENTRY") == "0")
  }

  private static func dump(_ store: String) throws -> String {
    try sqlite(
      store,
      "SELECT * FROM ZJOURNALENTRY; SELECT * FROM Z_PRIMARYKEY; SELECT * FROM SJ_INPUT; "
        + "SELECT * FROM SJ_RUN WHERE outcome = 'completed'")
  }
}
