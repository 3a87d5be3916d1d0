/// Says by a function's name which stage it works for, whoever called it.
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
    StageRule(.checkpoint, nil, "sqlite3WalCheckpoint", "sqlite3_wal_checkpoint", "sqlite3Checkpoint"),
    StageRule(.tree, nil, "sqlite3Btree", "sqlite3Pcache", "sqlite3PagerGet", "sqlite3PagerUnref", "sqlite3PagerWrite"),
    StageRule(.log, nil, "sqlite3Wal", "sqlite3Pager"),
    StageRule(.bind, nil, "sqlite3_result_", "sqlite3_bind_"),
    StageRule(.record, nil, "sqlite3VdbeExec", "sqlite3_step"),
    StageRule(.inflate, nil, "inflate", "isal_", "decode_huffman", "crc32"),
    StageRule(.inflate, "CSV", "GzipInflater"),
    StageRule(.hash, "CSV", "ContentHash", "ContentDigest"),
    StageRule(.read, "CSV", "RawInput", "ByteSource", "InputSpool"),
    StageRule(.parse, "CSV", ""),
    StageRule(
      .validate, "PipelineEngine", "Field", "ISODate", "CivilCalendar", "Date", "Digit", "Number", "Quantity", "Record",
      "Rule", "Text"),
    StageRule(.pack, "PipelineEngine", "ChunkParser", "ParsedChunk"),
    StageRule(.pack, "OpenCoreData", "ObjectBatch"),
    StageRule(.bind, "OpenCoreData", "columnValue", "BatchSource", "BatchScan"),
    StageRule(.run, "PipelineEngine", ""),
    StageRule(.graph, "OpenCoreData", ""),
  ]

  private init(_ stage: Stage, _ module: String?, _ prefixes: String...) {
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
