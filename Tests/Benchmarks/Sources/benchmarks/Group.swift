/// Subjects that are compared with each other.
enum Group: String, CaseIterable {
  case `import`, core, keyed, linked, validate, export, sorted, stream, objects, library, subquery, migration, history,
    cascade, start, server, long

  /// Those that a plain run measures: all but the one that takes minutes and gigabytes, and the one that needs a server.
  static let ordinary = allCases.filter { $0 != .long && $0 != .server }
  /// Those that take logs of a certain make, which no other log can stand in for.
  static let ofOwnLogs: Set<Group> = [.keyed, .linked, .long]

  var title: String {
    switch self {
    case .import: "Import"
    case .core: "Import, held to one core"
    case .keyed: "Import with a key"
    case .linked: "Import with links"
    case .validate: "Dry run"
    case .export: "Export by key"
    case .sorted: "Export by date, without an index"
    case .stream: "Walking over everything"
    case .objects: "Objects, one by one"
    case .library: "Walking over related objects"
    case .subquery: "A condition on related objects"
    case .migration: "Migrating by a policy"
    case .history: "Import into a store with a history"
    case .cascade: "Deleting with a cascade"
    case .start: "Small runs"
    case .server: "A store in PostgreSQL"
    case .long: "Ten times the records"
    }
  }

  /// What one has to know to read the figures; nil where the names say it.
  var note: String? {
    switch self {
    case .import:
      """
      *Object sets* is an import whose three contexts post every `didSave` with sets of objects, as Apple's do, to an
      observer that counts them; the others post IDs.
      """
    case .core:
      """
      `taskset` binds each to the same core. The loaders do what the limit does, without threads: one passes rows
      through a virtual table, the other binds and steps a statement for each row.
      """
    case .keyed:
      """
      The key is date and place, no index is added, and the records are not sorted. The first line is the import
      without a key, which × *ours* refers to: into an empty store, where it is fastest. Into an empty store the log
      itself is imported; about one record in 150 repeats a key. *Store of as many* is the result of that import; the
      log for it has as many records, every other one of which repeats a key of the store, in random order, like a
      nightly copy of a growing log. One in a hundred of these has different values. A copy of the store is made
      before each run and not timed.
      """
    case .linked:
      """
      The location of each record is the name of one of a two-hundredth as many spots, in no order. The import makes a
      spot of each name that it meets first, and links the session to it. The C loader does what the limit does, with a
      hash of the names and the key of the spot in each row, and makes the index of the keys at the end, as the import
      does. The last line has the names as texts of the sessions.
      """
    case .stream:
      """
      Every value of every row is read, in the order of keys, and nothing is written. The C cursor fetches the
      columns and does not use them.
      """
    case .objects:
      """
      Each book has six attributes, and a thousand of them are saved through three contexts. The books of one author
      follow each other: 200, as many as the sessions of a spot in a linked import, or ten. The authors are fetched first.
      """
    case .library: "Ten books to an author; every value of both is read."
    case .subquery: "Authors of more than two books with over 900 pages, by a fetch and by SQL that a person wrote."
    case .migration:
      """
      A policy makes each object of the new version and sets an attribute that the old one lacks; the books keep their
      authors. The first line inserts as many books one by one.
      """
    case .history: "The store records each insertion in its persistent history."
    case .cascade:
      """
      A thousand books to an author. Authors are deleted in a context, and their books by the delete rule, through three
      contexts. The C program reads the books, of which an app would be notified, and runs two statements.
      """
    case .start:
      """
      Each is started several times a round, and the median counts. Cold: no page of the program, or of the
      libraries it loads except libc, is in memory. They are copies that no other process has mapped; they are dropped
      from the page cache before each start, and this is verified. Disks of virtual machines may have caches of
      their own behind that.
      """
    case .server:
      """
      Server and client share this machine's cores, and the server waits for the disk at each commit. The C program sends
      the rows by COPY in binary form, into the table of an empty journal, and commits as often as the import: after 8,000
      records, or after 50,000. *psql* writes texts in one transaction, into a table without a key, which costs the
      server half of what a row with a key does, or into one with a key that the server counts up. The column *of the
      limit* has the speed as a share of the C program's first import, also for what reads.
      """
    case .long: "Shares and multiples are those of records per second."
    case .validate, .export, .sorted: nil
    }
  }

  /// The one whose speed is the most that can be had; nil: the group has no such thing.
  var limit: Subject? {
    switch self {
    case .import: .limitImport
    case .core: .limitImportOneThread
    case .linked: .limitLinked
    case .validate: .limitCheck
    case .export: .limitExport
    case .sorted: .limitExportByDate
    case .stream: .limitStep
    case .objects: .limitInsertBooks
    case .library: .limitWalkLibrary
    case .subquery: .shellSubquery
    case .migration: .insertLinkedBooks
    case .history: .importPlain
    case .cascade: .limitDeleteAuthors
    case .server: .limitServerImport
    case .long: .limitImportLong
    case .keyed, .start: nil
    }
  }

  /// The one of ours that the others are compared with.
  var ours: Subject {
    switch self {
    case .import, .keyed: .importPlain
    case .core: .importOneCore
    case .linked: .importLinked
    case .validate: .validate
    case .export: .export
    case .sorted: .exportByDate
    case .stream: .walkObjects
    case .objects: .insertBooks
    case .library: .walkLibrary
    case .subquery: .subquery
    case .migration: .migrateByPolicy
    case .history: .importTracked
    case .cascade: .deleteAuthors
    case .start: .version
    case .server: .importServer
    case .long: .importLong
    }
  }
}
