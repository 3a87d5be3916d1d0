import Foundation
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// What a run's numbers must satisfy, and what its process says at the end.
@Suite struct RunOutcomeTests {
  struct Exit: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let outcome: RunSummary.Outcome
    var errors = 0
    var warnings = 0
    var failure: RunSummary.Failure?
    let status: Int32
  }

  static let exits = [
    Exit(testDescription: "clean", outcome: .completed, status: 0),
    Exit(testDescription: "warnings only", outcome: .completed, warnings: 3, status: 0),
    Exit(testDescription: "a rejected record", outcome: .completed, errors: 1, status: 65),
    Exit(testDescription: "stopped by the error policy", outcome: .stopped, errors: 1, status: 65),
    Exit(testDescription: "cancelled", outcome: .cancelled, status: 75),
    Exit(testDescription: "cancelled with errors", outcome: .cancelled, errors: 2, status: 75),
    Exit(
      testDescription: "no input", outcome: .failed, failure: .init(message: "m", exitCode: .noInput), status: 66),
    Exit(
      testDescription: "failed with errors", outcome: .failed, errors: 2,
      failure: .init(message: "m", exitCode: .cannotCreate), status: 73),
    Exit(testDescription: "failed without a reason", outcome: .failed, status: 70),
  ]

  @Test(arguments: exits)
  func `The exit status tells the cause, as sysexits.h has it`(of test: Exit) {
    var log = IssueLog()
    let position = RecordPosition(input: "-", record: 1, line: 2, byte: 3)
    for _ in 0..<test.errors { log.add(RecordIssue(.typeError, at: position, message: "m")) }
    for _ in 0..<test.warnings {
      log.add(RecordIssue(.extraLabel, severity: .warning, at: position, message: "m"))
    }
    let summary = RunSummary(
      kind: .import, pipeline: "p", outcome: test.outcome, failure: test.failure, startedAt: Date(), seconds: 0,
      issues: log)
    #expect(summary.exitCode.rawValue == test.status)
    #expect(summary.rowsPerSecond == 0)
  }

  @Test func `The exit codes are those of sysexits.h`() {
    let codes: [ExitCode] = [
      .ok, .usage, .dataError, .noInput, .software, .cannotCreate, .ioError, .temporaryFailure, .noPermission,
      .configuration,
    ]
    #expect(codes.map(\.rawValue) == [0, 64, 65, 66, 70, 73, 74, 75, 77, 78])
  }

  @Test func `Every record read is accounted for, or the run is a fault of the program`() {
    let counts = RunCounts(read: 26, inserted: 1, updated: 2, unchanged: 3, duplicate: 4, repeated: 5, rejected: 11)
    #expect(counts.isConserved)
    #expect(throws: Never.self) { try counts.checkConservation() }
    #expect((counts + counts).isConserved)
    #expect((counts + counts).read == 52)
    let lost = counts + RunCounts(read: 1)
    let error = #expect(throws: ConservationError.self) { try lost.checkConservation() }
    #expect(error?.exitCode == .software)
    #expect(
      error?.description.hasPrefix(
        "27 records were read but 26 are accounted for (1 inserted, 2 updated, 3 unchanged, 4 duplicate, 5 repeated, "
          + "11 rejected)."
      ) == true)
  }

  static let rejects: [(input: String, name: String)] = [
    ("log.csv", "log.csv.rejects.csv"), ("in/log.csv.gz", "log.csv.gz.rejects.csv"), ("-", "stdin.rejects.csv"),
    ("/a b/ü.txt", "ü.txt.rejects.csv"),
  ]

  @Test(arguments: rejects)
  func `The rejects of an input are named after the whole of its name`(input: String, name: String) {
    #expect(RunSummary.rejectsName(for: input) == name)
  }

  @Test func `The process knows its peak of memory`() {
    #expect(ProcessMemory.peakBytes > 1_000_000)
  }
}
