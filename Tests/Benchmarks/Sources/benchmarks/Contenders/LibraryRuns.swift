import Foundation

/// Objects of two entities that are related: each run starts from a copy of a store made for it.
struct LibraryRuns {
  private let source: Contenders
  private let program: String
  private let limit: String
  /// Authors without books; with ten books each.
  private let authors: String
  private let library: String
  /// The same with 200 books to an author, as of the spots of linked sessions.
  private let prolificAuthors: String
  private let prolificLibrary: String
  /// A thousandth as many authors as there are books.
  private let fewOwners: String

  init(_ source: Contenders) throws {
    self.source = source
    program = try source.folder.program("benchmarks")
    limit = try source.folder.program("limit")
    authors = source.folder.output("authors.sqlite")
    library = source.folder.output("library.sqlite")
    prolificAuthors = source.folder.output("prolific-authors.sqlite")
    prolificLibrary = source.folder.output("prolific-library.sqlite")
    fewOwners = source.folder.output("few-owners.sqlite")
    try make(authors, count: max(1, source.rows / 10))
    try fill(library, from: authors)
    try make(prolificAuthors, count: max(1, source.rows / 200))
    try fill(prolificLibrary, from: prolificAuthors)
    try make(fewOwners, count: max(1, source.rows / 1000))
    try fill(fewOwners, from: fewOwners)
  }

  func contenders() throws -> [Contender] {
    [
      inserting(.limitInsertBooks, .insertBooks, by: limit), inserting(.insertBooks, .insertBooks, by: program),
      inserting(.insertBooksOfProlificAuthors, .insertLinkedBooks, by: program),
      inserting(.limitInsertLinkedBooks, .insertLinkedBooks, by: limit),
      inserting(.insertLinkedBooks, .insertLinkedBooks, by: program),
      counting(.shellSubquery, ["sqlite3", library, Self.countedSubselect]),
      counting(.subquery, [program, LibraryRun.countBySubquery.rawValue, library]), migrating(),
      try walking(.limitWalkLibrary, limit), try walking(.walkLibrary, program),
      deleting(.limitDeleteAuthors, limit), deleting(.deleteAuthors, program),
    ]
  }

  // MARK: Stores

  private func make(_ store: String, count: Int) throws {
    try Tool.run([program, LibraryRun.makeAuthors.rawValue, store, String(count)])
    try checkpoint(store)
  }

  private func fill(_ store: String, from authors: String) throws {
    if store != authors { try copy(authors, to: store) }
    try Tool.run([limit, LibraryRun.insertLinkedBooks.rawValue, store, String(source.rows)])
    try checkpoint(store)
  }

  /// Leaves one file, which can be copied.
  private func checkpoint(_ store: String) throws {
    try Tool.run(["sqlite3", store, "PRAGMA wal_checkpoint(TRUNCATE)"])
  }

  private func copy(_ store: String, to path: String) throws { try Tool.run(["cp", store, path]) }

  // MARK: Contenders

  private func inserting(_ subject: Subject, _ run: LibraryRun, by program: String) -> Contender {
    let path = source.folder.output("\(subject).sqlite")
    let (authors, library) =
      subject == .insertBooksOfProlificAuthors ? (prolificAuthors, prolificLibrary) : (authors, library)
    return Contender(
      subject: subject, groups: subject == .insertLinkedBooks ? [.objects, .migration] : [.objects],
      command: [program, run.rawValue, path, String(source.rows)],
      outputs: [path], rows: source.rows, prepare: { try copy(authors, to: path) },
      check: { _ in
        let isLinked = run == .insertLinkedBooks
        let same = try Tool.run([
          "sqlite3", library, "ATTACH '\(path)' AS other",
          """
          SELECT count(*) = \(source.rows) AND count(*) FILTER (WHERE a.ZTITLE IS b.ZTITLE AND a.ZGENRE IS b.ZGENRE
          AND a.ZBINDING IS b.ZBINDING AND a.ZPLACE IS b.ZPLACE AND a.ZPAGES IS b.ZPAGES
          AND a.ZPUBLISHED IS b.ZPUBLISHED AND b.ZAUTHOR IS \(isLinked ? "a.ZAUTHOR" : "NULL")) = \(source.rows)
          FROM main.ZBOOK a JOIN other.ZBOOK b USING (Z_PK)
          """,
        ])
        guard same == "1" else { throw BenchmarkFailure("\(path) does not hold the books that were asked for") }
      })
  }

  private func walking(_ subject: Subject, _ program: String) throws -> Contender {
    let seen = try Tool.run([limit, LibraryRun.walk.rawValue, library])
    return Contender(
      subject: subject, groups: [.library], command: [program, LibraryRun.walk.rawValue, library], rows: source.rows,
      check: { try Checks.text(of: $0, is: seen + "\n") })
  }

  private static let countedSubselect = """
    SELECT count(*) FROM ZAUTHOR a WHERE (SELECT count(*) FROM ZBOOK b WHERE b.ZAUTHOR = a.Z_PK AND b.ZPAGES > 900) > 2
    """

  private func counting(_ subject: Subject, _ command: [String]) -> Contender {
    Contender(
      subject: subject, groups: [.subquery], command: command, rows: source.rows,
      check: { try Checks.text(of: $0, is: try Tool.run(["sqlite3", library, Self.countedSubselect]) + "\n") })
  }

  private func migrating() -> Contender {
    let path = source.folder.output("migrated.sqlite")
    return Contender(
      subject: .migrateByPolicy, groups: [.migration], command: [program, LibraryRun.migrate.rawValue, library, path],
      outputs: [path], rows: source.rows,
      check: { _ in
        try Checks.table("ZBOOK", of: path, has: source.rows)
        let linked = try Tool.run([
          "sqlite3", path, "SELECT count(*) FROM ZBOOK WHERE ZSHELF = ZPLACE AND ZAUTHOR IN (SELECT Z_PK FROM ZAUTHOR)",
        ])
        guard linked == "\(source.rows)" else { throw BenchmarkFailure("\(path) does not hold the migrated books") }
      })
  }

  private func deleting(_ subject: Subject, _ program: String) -> Contender {
    let path = source.folder.output("\(subject).sqlite")
    return Contender(
      subject: subject, groups: [.cascade], command: [program, LibraryRun.deleteAuthors.rawValue, path],
      outputs: [path], rows: source.rows, prepare: { try copy(fewOwners, to: path) },
      check: { _ in
        try Checks.table("ZBOOK", of: path, has: 0)
        try Checks.table("ZAUTHOR", of: path, has: 0)
      })
  }
}
