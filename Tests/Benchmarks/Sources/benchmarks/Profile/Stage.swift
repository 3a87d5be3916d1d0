/// What a row goes through on its way from a file into a store, in that order; then what belongs to no single row.
enum Stage: String, CaseIterable {
  case read, inflate, hash, parse, validate, pack
  case graph, bind, record
  case tree = "b-tree"
  case log = "WAL"
  case checkpoint
  case run, threads, start
  case unknown

  /// What waits for what: rows are made ready on one side, stored on the other, and moved on from there.
  enum Side: String, CaseIterable {
    case reading, writing, checkpoints
  }

  var side: Side? {
    switch self {
    case .read, .inflate, .hash, .parse, .validate, .pack: .reading
    case .graph, .bind, .record, .tree, .log: .writing
    case .checkpoint: .checkpoints
    case .run, .threads, .start, .unknown: nil
    }
  }

  var meaning: String {
    switch self {
    case .read: "bytes from the kernel"
    case .inflate: "gzip"
    case .hash: "the content's hash, by which the ledger recognises a file"
    case .parse: "records, fields and quotes; UTF-8"
    case .validate: "dates, numbers, rules"
    case .pack: "values into cells and an arena"
    case .graph: "three contexts: insertion, the model's rules, notifications, saves"
    case .bind: "the virtual table's callbacks"
    case .record: "SQLite's byte code: a record from the values"
    case .tree: "a row into the table; page cache"
    case .log: "pages and their checksums into the write-ahead log, commits"
    case .checkpoint: "pages from the WAL into the database"
    case .run: "chunks, positions, ledger, report"
    case .threads: "waking up and going to sleep, outside of any of the above"
    case .start: "loading the program, its main thread's loop, its end"
    case .unknown: "samples that match no rule"
    }
  }

  /// The stage of a sample.
  /// - Parameter stack: Its functions as the linker knows them, the innermost first. Most are nobody's: what copies
  ///   memory or counts references works for its caller.
  init(of stack: [String]) {
    func has(_ prefixes: String...) -> Bool { stack.contains { name in prefixes.contains { name.hasPrefix($0) } } }
    self =
      stack.lazy.compactMap { StageRule.stage(of: $0) }.first
      ?? (has("_dispatch", "start_thread") ? .threads : has("_dl_", "_start", "exit") ? .start : .unknown)
  }
}
