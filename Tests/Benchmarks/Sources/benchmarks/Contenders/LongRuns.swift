import Foundation

/// Runs over ten times the records.
struct LongRuns {
  private static let factor = 10
  private let source: Contenders
  private let log: String
  private let store: String
  private let checks: Checks

  private var rows: Int { source.rows * Self.factor }

  init(_ source: Contenders) throws {
    self.source = source
    let folder = source.folder
    log = try Inputs.log(rows: source.rows * Self.factor, folder)
    store = folder.output("long.sqlite")
    let limitStore = folder.output("long-limit.sqlite")
    try Tool.run([folder.program("limit"), "import", log, limitStore])
    checks = try Checks(store: limitStore)
    folder.remove(limitStore)
    try Tool.run([folder.program("surfjournal"), "import", log, "--store", store])
    try checks.store(store)
  }

  func contenders() throws -> [Contender] {
    let folder = source.folder
    let (ours, limit) = try (folder.program("surfjournal"), folder.program("limit"))
    let sorted = folder.output("long-sorted.csv")
    return [
      loading(.limitImportLong) { [limit, "import", log, $0] },
      loading(.importLong) { [ours, "import", log, "--store", $0] },
      Contender(
        subject: .exportByDateLong, groups: [.long],
        command: [ours, "export", "--store", store, "--output", sorted, "--sort", "date"] + Contenders.columns,
        outputs: [sorted], rows: rows, roundsMax: 2, check: { _ in try Checks.sorted(sorted, from: log) }),
    ]
  }

  private func loading(_ subject: Subject, command: (_ store: String) -> [String]) -> Contender {
    let path = source.folder.output("\(subject).sqlite")
    return Contender(
      subject: subject, groups: [.long], command: command(path), outputs: [path], rows: rows, roundsMax: 2,
      check: { _ in try checks.store(path) })
  }
}
