import CSV

@testable import CSV

/// What a writer accepts, a reader of the same dialect reads back.
enum WritingTarget: FuzzTarget {
  static let name = "writing"
  static let seeds = DialectChoice.seeds(DialectChoice.texts)
  static let words = RecordsTarget.words + ["\u{1F}", "\u{1D}", "\\N"]

  static func run(_ input: inout FuzzInput) {
    var dialect = DialectChoice.take(from: &input)
    (dialect.skippedRows, dialect.droppedLastRows, dialect.stopAt, dialect.headerRows) = (0, 0, nil, 0)
    dialect.columns = nil
    dialect.keepsNulBytes = true
    // Unit and group separators, which end values and records here.
    let records = input.text.split(separator: "\u{1D}", omittingEmptySubsequences: false).map { record in
      record.split(separator: "\u{1F}", omittingEmptySubsequences: false).map { Array($0.utf8) }
    }
    guard let bytes = write(records, dialect) else { return }
    let limits = CSVLimits.quick
    guard
      let read = ReadText(bytes, dialect, limits: limits, readBytes: 16 << 10, fast: true, recordsMax: 1000)
    else { return }
    requireEqual(read.records.map(\.values), records, rule: "what was written is read back")
    let problems = read.records.map(\.problems).filter { !$0.isEmpty }
    requireEqual(problems, [], rule: "what was written has no problems")
  }

  /// Nil if the dialect cannot hold one of the values.
  private static func write(_ records: [[[UInt8]]], _ dialect: CSVDialect) -> [UInt8]? {
    do throws(CSVError) {
      let sink = try ByteSink.memory()
      var writer = try CSVWriter(sink, dialect: dialect)
      for record in records { try writer.write(record.map { String(decoding: $0, as: UTF8.self) }) }
      try writer.flush()
      try sink.commit()
      return sink.bytes
    } catch {
      if error.code != .unquotableValue { broken("writing fails only for values", "\(error)") }
      return nil
    }
  }
}
