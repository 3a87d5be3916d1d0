/// Faults that these suites found and whose repair is a change of its own. An entry goes with its repair.
enum AwaitedRepair {
  private struct Entry: Sendable {
    let what: String
    let isIt: @Sendable (String) -> Bool
  }

  private static let entries: [Entry] = [
    Entry(what: "files of a run that did not end are left next to those of its repetition") { problem in
      problem.contains("left over: ")
        && [".rejects.", ".partial", ".seeding", "in/processed", ".next", ".part"].contains { problem.contains($0) }
    },
    Entry(what: "a run that finds its work done leaves a -wal and a -shm of another run") {
      $0.contains("left over: s-shm, s-wal") || $0.hasSuffix("left over: s-wal")
    },
    Entry(what: "a lock call that fails is reported as another error") {
      $0.contains("fail(5) at call") && $0.contains("(fcntl ")
    },
    Entry(what: "a -wal or a -shm as a power cut leaves it is refused") { problem in
      [
        "are not from the same time", "its first page was not written under its header", "which is cut off after",
        "the checksum of its header is wrong", "s-wal, which is missing", "pages SQLite sees only",
      ].contains { problem.contains($0) }
    },
  ]

  /// The repair that a problem awaits; nil if it is new.
  static func of(_ problem: String) -> String? { entries.first { $0.isIt(problem) }?.what }
}
