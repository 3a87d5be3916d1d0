import CSV

/// Issues for what the reader found wrong with a record's own bytes.
enum RecordFaults {
  /// Whether a record's own bytes are valid, apart from what was repaired.
  @inline(__always)
  static func isSound(_ record: RecordSlice) -> Bool {
    record.problems.isEmpty || record.problems.subtracting(.repairs).isEmpty
  }

  /// Every problem of a record, those first that are the likely cause of others; empty if the record is valid.
  static func issues(
    of record: RecordSlice, in block: RecordBlock, at position: RecordPosition, limits: LimitsDefinition
  ) -> [RecordIssue] {
    let problems = record.problems
    if problems.contains(.blank) {
      return [RecordIssue(.blankRow, at: position, message: "the line is empty; remove it, or fill it in")]
    }
    // Most rejects are sound: what is wrong is the value of a field.
    if isSound(record) { return [] }
    let value = RawText.shortened(block.bytes[record.contentRange])
    var issues: [RecordIssue] = []
    func note(_ code: IssueCode, _ message: String) {
      issues.append(RecordIssue(code, at: position, value: value, message: message))
    }
    if problems.contains(.recordTooLong) || problems.contains(.tooManyFields) {
      note(
        .recordTooLong,
        (block.isJSONLines
          ? "the line is longer than \(limits.recordBytesMax) bytes; write each object in a line of its own, or raise "
            + "limits.recordBytesMax"
          : "the record is longer than \(limits.recordBytesMax) bytes or has too many fields; a quote that is never "
            + "closed is a common cause. Correct it, or raise limits.recordBytesMax")
          + (problems.contains(.cut) ? ". Only the first bytes of the reject are kept" : ""))
    }
    if problems.contains(.unterminatedQuote) {
      let lines = record.linesInDoubt
      let doubt =
        lines == 0
        ? ""
        : lines == 1
          ? ". The line after it may belong to its text, and is read as a record"
          : ". The \(lines) lines after it may belong to its text, and are read as records"
      note(
        .unterminatedQuote,
        "a quote is opened and never closed; close it, or double it where it belongs to the text\(doubt)")
    }
    if problems.contains(.invalidUTF8) {
      let byte = block.byteOffsetOfInvalidUTF8(in: record).map { " at byte \($0)" } ?? ""
      let advice = block.isJSONLines ? "save the file as UTF-8" : encodingAdvice
      note(.encodingError, "the text is not UTF-8\(byte); \(advice)")
    }
    if problems.contains(.nulByte) {
      note(
        .nulByte,
        "the record holds a NUL byte; remove it (the file may be damaged, or not text at all), or keep it with the "
          + "dialect's \"nulBytes\": \"keep\"")
    }
    if problems.contains(.strayQuote) {
      note(
        .strayQuote,
        "there is a quote inside a field; put the whole field in quotes and double every quote in it")
    }
    if problems.contains(.fieldTooLong) {
      note(
        .fieldTooLong,
        "a field is longer than \(limits.fieldBytesMax) bytes; shorten it, or raise limits.fieldBytesMax")
    }
    return issues
  }

  static let encodingAdvice =
    "save the file as UTF-8, or declare its encoding in the dialect, such as \"encoding\": \"windows-1252\""

  /// What was repaired in a record, as warnings.
  static func repairs(of record: RecordSlice, in block: RecordBlock, at position: RecordPosition) -> [RecordIssue] {
    guard !record.problems.isDisjoint(with: .repairs) else { return [] }
    return repairs.compactMap { problem, code, message in
      guard record.problems.contains(problem) else { return nil }
      return RecordIssue(
        code, severity: .warning, at: position, value: RawText.shortened(block.bytes[record.contentRange]),
        message: message)
    }
  }

  private static let repairs: [(RecordProblems, IssueCode, String)] = [
    (
      .repairedStrayQuote, .strayQuote,
      "a quote inside a field was taken as text, because the dialect is lenient; check the field"
    ),
    (
      .repairedOpenQuote, .unterminatedQuote,
      "a quote that is never closed was closed at the end, because the dialect is lenient; check the field"
    ),
    (
      .repairedLineEnd, .mixedLineEnd,
      "the line end is not that of the first record, but ends the record; check that no line is lost"
    ),
  ]

  /// What is wrong with the bytes of a header, as issues of it: with a label that is not what was meant, a column would
  /// be missing without anybody noticing.
  static func issues(
    of header: CSVHeader, _ mapping: HeaderMapping, _ policy: HeaderPolicy, at position: RecordPosition
  ) -> [RecordIssue] {
    let warnings = repairs.filter { header.problems.contains($0.0) }.map {
      RecordIssue($0.1, severity: .warning, at: position, message: "in the header \($0.2)")
    }
    return warnings + faults(of: header, at: position) + tooLongLabels(of: header, at: position)
      + longLabels(of: header, mapping, policy, at: position)
  }

  /// The largest number of bytes of a label. Every report, and the ledger, has the labels whole.
  static let labelBytesMax = 10_000

  private static func tooLongLabels(of header: CSVHeader, at position: RecordPosition) -> [RecordIssue] {
    header.names.indices.filter { header.names[$0].utf8.count > labelBytesMax }.map { index in
      RecordIssue(
        .fieldTooLong, at: position, field: index + 1, value: RawText.shortened(header.names[index].utf8),
        message:
          "this label has \(header.names[index].utf8.count) bytes, and the limit is \(labelBytesMax); close a quote "
          + "that is opened in the header, check the delimiter, or shorten the label")
    }
  }

  /// A label of several lines that no column has: a quote may be opened in it that the next record closes, which would
  /// then be missing.
  private static func longLabels(
    of header: CSVHeader, _ mapping: HeaderMapping, _ policy: HeaderPolicy, at position: RecordPosition
  ) -> [RecordIssue] {
    guard policy.extra != .ignore, header.problems.isEmpty else { return [] }
    return header.names.indices.filter { index in
      header.names[index].contains(where: \.isNewline) && mapping.columnOfField[index] == nil
    }.map { index in
      RecordIssue(
        .unterminatedQuote, at: position, field: index + 1, value: RawText.shortened(header.names[index].utf8),
        message:
          "this label has several lines; close the quote that is opened in the header, or, if the label is meant "
          + "so, declare it as a column, or \"extraColumns\": \"ignore\"")
    }
  }

  private static func faults(of header: CSVHeader, at position: RecordPosition) -> [RecordIssue] {
    let kinds: [(RecordProblems, IssueCode, String)] = [
      (.recordTooLong, .recordTooLong, "the header is too long; a quote that is never closed is a common cause"),
      (.tooManyFields, .recordTooLong, "the header has too many labels; the delimiter may be another one"),
      (.unterminatedQuote, .unterminatedQuote, "a quote in the header is opened and never closed; close it"),
      (.invalidUTF8, .encodingError, "the header is not UTF-8; \(encodingAdvice)"),
      (.nulByte, .nulByte, "the header holds a NUL byte; the file is damaged, or in another encoding such as UTF-16"),
      (
        .strayQuote, .strayQuote,
        "a quote in the header stands inside a label or is not closed; put the whole label in quotes and double every "
          + "quote in it"
      ),
    ]
    return kinds.compactMap { problem, code, message in
      guard header.problems.contains(problem) else { return nil }
      let field = code == .encodingError ? header.names.firstIndex { $0.contains("\u{FFFD}") } : nil
      return RecordIssue(
        code, at: position, field: field.map { $0 + 1 }, value: field.map { RawText.shortened(header.names[$0].utf8) },
        message: message)
    }
  }
}
