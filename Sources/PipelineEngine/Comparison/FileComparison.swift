/// The result of a ``ComparisonRun``: its counts, and the differences, page by page.
package struct FileComparison: Sendable {
  /// What was compared, and what was found.
  struct Content: Sendable {
    let oldName: String
    let newName: String
    /// Whether the old side is a store.
    let isStore: Bool
    let pipeline: String
    let program: String
    let columns: ComparedColumns
    let counts: ComparisonCounts
    /// The reading of the old file; nil for a store.
    let oldSummary: RunSummary?
    let newSummary: RunSummary
    let spool: DifferenceSpool
  }

  /// Nil where the sides could not be compared.
  let content: Content?
  /// Why they could not.
  package let failure: RunSummary.Failure?

  init(content: Content? = nil, failure: RunSummary.Failure? = nil) {
    (self.content, self.failure) = (content, failure)
  }

  /// 0; 65 if a record could not be read; 1 if there are differences and `countsDifferences` is set.
  package func exitCode(countsDifferences: Bool) -> ExitCode {
    guard let content else { return failure?.exitCode ?? .software }
    if content.rejected > 0 { return .dataError }
    return countsDifferences && content.counts.differences > 0 ? ExitCode(rawValue: 1) : .ok
  }
}

extension FileComparison.Content {
  private static let pageMax = 500

  /// Calls `body` with each difference: first those of the new side's entries, in their order, then the old side's.
  func each(_ body: (Difference) throws -> Void) throws {
    try each(spool.newPage, number: \.new, body)
    try each(spool.oldPage, number: \.old, body)
  }

  private func each(
    _ page: (_ after: Int64, _ max: Int) throws -> [Difference], number: (Difference) -> Difference.Entry?,
    _ body: (Difference) throws -> Void
  ) throws {
    var last = Int64.min
    while true {
      let differences = try page(last, Self.pageMax)
      for difference in differences { try body(difference) }
      guard differences.count == Self.pageMax, let entry = differences.last.flatMap(number) else { return }
      last = entry.number
    }
  }

  var summaries: [RunSummary] { [oldSummary, newSummary].compactMap { $0 } }

  /// Records of files that could not be read.
  var rejected: Int { summaries.reduce(0) { $0 + $1.counts.rejected } }

  var oldIsNamed: String { Self.name(oldName) }
  var newIsNamed: String { Self.name(newName) }

  private static func name(_ path: String) -> String { path == "-" ? "standard input" : path }

  /// The values that describe a difference: those of a key, and for each attribute that differs the old and new one.
  func values(_ difference: Difference) -> (key: [Value], others: [Value]) {
    var (key, others): ([Value], [Value]) = ([], [])
    for (index, column) in columns.texts.columns.enumerated() {
      let old = difference.old.map { $0.values[index] }
      let new = difference.new.map { $0.values[index] }
      let value = Value(name: column.attribute, type: column.type, old: old ?? nil, new: new ?? nil)
      if columns.isKey[index] {
        key.append(value)
      } else if difference.kind != .changed || !value.isUnchanged {
        others.append(value)
      }
    }
    return (key, difference.kind == .duplicate ? [] : others)
  }

  /// An attribute of a difference.
  struct Value {
    let name: String
    let type: ColumnType
    let old: String?
    let new: String?

    /// Byte by byte: two Swift texts are also equal if only the composition of their characters differs.
    var isUnchanged: Bool { old.map { Array($0.utf8) } == new.map { Array($0.utf8) } }

    /// That of the only side that has the entry, or of both.
    var text: String? { new ?? old }
  }

  /// What else a reader should know.
  var notes: [String] {
    var notes = summaries.compactMap(\.note)
    if counts.isSame, counts.listed > 0 {
      notes.append("both sides have the same entries; what is listed has no key, or shares it with others")
    }
    if rejected > 0 {
      let entries = rejected == 1 ? "its entry counts" : "their entries count"
      notes.append("\(TextTable.count(rejected, "record")) could not be read, so \(entries) as absent on that side")
    }
    return notes
  }
}
