/// Subjects that are compared with each other.
enum Group: String, CaseIterable {
  case `import`, core, keyed, validate, export, sorted, stream, start, long

  /// Those that a plain run measures: all but the one that takes minutes and gigabytes.
  static let ordinary = allCases.filter { $0 != .long }
  /// Those that take logs of a certain make, which no other log can stand in for.
  static let ofOwnLogs: Set<Group> = [.keyed, .long]

  var title: String {
    switch self {
    case .import: "Import"
    case .core: "Import, held to one core"
    case .keyed: "Import with a key"
    case .validate: "Dry run"
    case .export: "Export by key"
    case .sorted: "Export by date, without an index"
    case .stream: "Walking over everything"
    case .start: "Small runs"
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
      `taskset` holds each to the same core. The loaders do what the limit does, without threads: rows through a
      virtual table, and one bound statement stepped for each row.
      """
    case .keyed:
      """
      The key is date and place, no index is added, and the records come in no order. The first line is the import
      without a key, which × *ours* refers to: into an empty store, where it is fastest. Into an empty store the log
      itself is imported, of which about one record in 150 repeats a key. The store of as many is that import; the
      log for it has as many records, of which every other one repeats a key of the store, in random order: what a
      nightly copy of a growing log is like. One in a hundred of these has other values. A copy of the store is made
      before each run and not timed.
      """
    case .stream:
      """
      Every value of every row is read, in the order of keys, and nothing is written. The C cursor fetches columns
      that nobody looks at.
      """
    case .start:
      """
      Each is started several times a round, and the median counts. Cold: none of the pages of the program, and of
      the libraries it loads besides libc, is in memory. They are copies that no other process has mapped, dropped
      from the page cache before each start and proven to be gone. Disks of virtual machines may have caches of
      their own behind that.
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
    case .validate: .limitCheck
    case .export: .limitExport
    case .sorted: .limitExportByDate
    case .stream: .limitStep
    case .long: .limitImportLong
    case .keyed, .start: nil
    }
  }

  /// The one of ours that the others are compared with.
  var ours: Subject {
    switch self {
    case .import, .keyed: .importPlain
    case .core: .importOneCore
    case .validate: .validate
    case .export: .export
    case .sorted: .exportByDate
    case .stream: .walkObjects
    case .start: .version
    case .long: .importLong
    }
  }
}
