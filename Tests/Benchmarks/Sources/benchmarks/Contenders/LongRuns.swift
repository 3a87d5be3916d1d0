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
    let place = source.place
    log = try Inputs.log(rows: source.rows * Self.factor, place)
    store = place.output("long.sqlite")
    let limitStore = place.output("long-limit.sqlite")
    try Tool.run([place.program("limit"), "import", log, limitStore])
    checks = try Checks(store: limitStore)
    place.remove(limitStore)
    try Tool.run([place.program("surfjournal"), "import", log, "--store", store])
    try checks.store(store)
  }

  func contenders() throws -> [Contender] {
    let place = source.place
    let (ours, limit) = try (place.program("surfjournal"), place.program("limit"))
    let sorted = place.output("long-sorted.csv")
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
    let path = source.place.output("\(subject).sqlite")
    return Contender(
      subject: subject, groups: [.long], command: command(path), outputs: [path], rows: rows, roundsMax: 2,
      check: { _ in try checks.store(path) })
  }
}
