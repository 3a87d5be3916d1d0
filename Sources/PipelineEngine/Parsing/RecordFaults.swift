import CSV

/// Issues for what the reader found wrong with a record's own bytes.
enum RecordFaults {
  /// The first problem, in the order in which one hides the next; nil if the record is valid.
  static func issue(
    of record: RecordSlice, in block: RecordBlock, at position: RecordPosition, limits: LimitsDefinition
  ) -> RecordIssue? {
    let problems = record.problems
    let value = RawText.shortened(block.bytes[record.contentRange])
    func issue(_ code: IssueCode, _ message: String) -> RecordIssue {
      RecordIssue(code, at: position, value: value, message: message)
    }
    if problems.contains(.blank) {
      return RecordIssue(.blankRow, at: position, message: "the line is empty; remove it, or fill it in")
    }
    if problems.contains(.recordTooLong) || problems.contains(.tooManyFields) {
      return issue(
        .recordTooLong,
        "the record is longer than \(limits.recordBytesMax) bytes or has too many fields; a quote that is never "
          + "closed is a common cause. Correct it, or raise limits.recordBytesMax"
          + (problems.contains(.cut) ? ". Only the first bytes of the reject are kept" : ""))
    }
    if problems.contains(.unterminatedQuote) {
      return issue(
        .unterminatedQuote,
        "a quote is opened and never closed; close it, or double it where it belongs to the text")
    }
    if problems.contains(.invalidUTF8) {
      let byte = block.byteOffsetOfInvalidUTF8(in: record).map { " at byte \($0)" } ?? ""
      return issue(
        .encodingError, "the text is not UTF-8\(byte); save the file as UTF-8, for example with iconv")
    }
    if problems.contains(.nulByte) {
      return issue(
        .nulByte,
        "the record holds a NUL byte; remove it (the file may be damaged, or not text at all), or keep it with the "
          + "dialect's \"nulBytes\": \"keep\"")
    }
    if problems.contains(.strayQuote) {
      return issue(
        .strayQuote,
        "there is a quote inside a field; put the whole field in quotes and double every quote in it")
    }
    if problems.contains(.fieldTooLong) {
      return issue(
        .fieldTooLong,
        "a field is longer than \(limits.fieldBytesMax) bytes; shorten it, or raise limits.fieldBytesMax")
    }
    return nil
  }
}
