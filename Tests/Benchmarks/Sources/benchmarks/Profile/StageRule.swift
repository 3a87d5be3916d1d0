/// Says by a function's name which stage it works for, regardless of the caller.
struct StageRule {
  private let stage: Stage
  /// The module whose types are meant; nil for names of C.
  private let module: String?
  /// What the names of the types and functions begin with.
  private let prefixes: [String]
  /// Names of C that are too short to stand for all that begins with them: those of the limit's program.
  private static let exact: [String: Stage] = [
    "fill": .read, "scan": .parse, "value": .bind, "next": .bind, "is_done": .bind, "read_ahead": .threads,
    "move_pages": .checkpoint,
  ]

  /// Special cases come first, a module's rest last.
  private static let all = [
    StageRule(
      .checkpoint, module: nil, prefixes: "sqlite3WalCheckpoint", "sqlite3_wal_checkpoint", "sqlite3Checkpoint"),
    StageRule(
      .tree, module: nil, prefixes: "sqlite3Btree", "sqlite3Pcache", "sqlite3PagerGet", "sqlite3PagerUnref",
      "sqlite3PagerWrite"),
    StageRule(.log, module: nil, prefixes: "sqlite3Wal", "sqlite3Pager"),
    StageRule(.bind, module: nil, prefixes: "sqlite3_result_", "sqlite3_bind_"),
    StageRule(.record, module: nil, prefixes: "sqlite3VdbeExec", "sqlite3_step"),
    StageRule(.inflate, module: nil, prefixes: "inflate", "isal_", "decode_huffman", "crc32"),
    StageRule(.inflate, module: "CSV", prefixes: "GzipInflater"),
    StageRule(.hash, module: "CSV", prefixes: "ContentHash", "ContentDigest"),
    StageRule(.read, module: "CSV", prefixes: "RawInput", "ByteSource", "InputSpool"),
    StageRule(.parse, module: "CSV", prefixes: ""),
    StageRule(
      .validate, module: "PipelineEngine", prefixes: "Field", "ISODate", "CivilCalendar", "Date", "Digit", "Number",
      "Quantity", "Record",
      "Rule", "Text"),
    StageRule(.pack, module: "PipelineEngine", prefixes: "ChunkParser", "ParsedChunk"),
    StageRule(.pack, module: "OpenCoreData", prefixes: "ObjectBatch"),
    StageRule(.bind, module: "OpenCoreData", prefixes: "columnValue", "BatchSource", "BatchScan"),
    StageRule(.run, module: "PipelineEngine", prefixes: ""),
    StageRule(.graph, module: "OpenCoreData", prefixes: ""),
  ]

  private init(_ stage: Stage, module: String?, prefixes: String...) {
    self.stage = stage
    self.module = module
    self.prefixes = prefixes
  }

  static func stage(of symbol: String) -> Stage? {
    if let stage = exact[symbol] { return stage }
    let name = Name(symbol)
    return all.first { rule in rule.module == name.module && rule.prefixes.contains { name.rest.hasPrefix($0) } }?.stage
  }

  /// A name as the linker knows it. Swift's begin with the module and the type, each after its length.
  private struct Name {
    var module: String?
    var rest: Substring

    init(_ symbol: String) {
      rest = symbol[...]
      guard symbol.hasPrefix("$s"), let length = Int(symbol.dropFirst(2).prefix(while: \.isNumber)) else { return }
      let named = symbol.dropFirst(2).drop(while: \.isNumber)
      module = String(named.prefix(length))
      rest = named.dropFirst(length).drop(while: \.isNumber)
    }
  }
}
