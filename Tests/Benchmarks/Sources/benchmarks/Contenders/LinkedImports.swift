import Foundation

/// Imports of sessions that lead to spots by their names.
struct LinkedImports {
  private let source: Contenders
  private let log: String
  private let program: String
  private let limit: String
  /// What stores must hold.
  private let expected: String

  init(_ source: Contenders) throws {
    self.source = source
    let folder = source.folder
    (program, limit) = (try folder.program("surfjournal"), try folder.program("limit"))
    log = try Inputs.log(rows: source.rows, spots: max(1, source.rows / 200), folder)
    let texts = folder.output("spots-as-texts.sqlite")
    try Tool.run([limit, "import", log, texts])
    defer { folder.remove(texts) }
    expected = try Self.content(
      of: texts, "count(DISTINCT ZLOCATION)", name: "ZLOCATION", "ZJOURNALENTRY")
  }

  func contenders() -> [Contender] {
    [
      contender(.limitLinked, name: "n.ZNAME") { [limit, "import-linked", log, $0] },
      contender(.importLinked, name: "n.ZNAME") { importing("linked", $0) },
      contender(.importUnlinked, name: "ZPLACE") { importing("unlinked", $0) },
    ]
  }

  private func importing(_ pipeline: String, _ store: String) -> [String] {
    let definition = BenchmarkFolder.repository.appending(path: "Tests/Benchmarks/Pipelines/\(pipeline).json").path
    return [program, "import", log, "--pipeline", definition, "--store", store]
  }

  private func contender(
    _ subject: Subject, name: String, command: (_ store: String) -> [String]
  ) -> Contender {
    let path = source.folder.output("\(subject).sqlite")
    return Contender(
      subject: subject, groups: [.linked], command: command(path), outputs: [path], rows: source.rows,
      check: { _ in
        let isLinked = name == "n.ZNAME"
        let found = try Self.content(
          of: path, isLinked ? "(SELECT count(*) FROM ZSPOT)" : "count(DISTINCT ZPLACE)", name: name,
          isLinked ? "ZSESSION LEFT JOIN ZSPOT n ON n.Z_PK = ZSPOT" : "ZSESSION")
        guard found == expected else { throw BenchmarkFailure("\(path) holds \(found); expected was \(expected)") }
      })
  }

  /// - Parameters:
  ///   - spots: An expression for the number of spots.
  ///   - name: An expression for the name of a session's spot.
  private static func content(of store: String, _ spots: String, name: String, _ table: String) throws -> String {
    let lengths = ["ZHEIGHT", "ZPERIOD", "ZWIND", name].map { "sum(length(\($0)))" }.joined(separator: ", ")
    return try Tool.run([
      "sqlite3", "-readonly", store,
      """
      SELECT \(spots), count(*), sum(ZDATE), sum(ZRATING), \(lengths), sum(ZDATE % 1009 * length(\(name))),
        sum(ZDATE % 1009 * unicode(substr(\(name), -1))) FROM \(table)
      """,
    ])
  }
}
