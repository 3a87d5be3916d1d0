import CSV

/// Issues for what is wrong with a record of JSON Lines.
struct MemberFaults {
  let mapping: HeaderMapping
  /// The names of the columns.
  let columns: [String]

  /// Every fault of the record at `index`; an error refuses the record.
  func issues(ofRecord index: Int, in block: RecordBlock, at position: RecordPosition) -> [RecordIssue] {
    block.memberFaults(ofRecordAt: index).map { fault in
      let severity = fault.isNoted ? Severity.warning : .error
      let column = fault.field.flatMap { mapping.columnOfField[$0] }.map { columns[$0] }
      return RecordIssue(
        Self.code(fault.kind), severity: severity, at: position,
        field: column == nil ? nil : fault.field.map { $0 + 1 }, column: column,
        value: RawText.shortened(block.bytes[block.records[index].contentRange]),
        message: Self.message(fault, severity, at: position))
    }
  }

  private static func code(_ kind: MemberFault.Kind) -> IssueCode {
    switch kind {
    case .syntax, .halfCharacter: .jsonError
    case .duplicateName, .secondValue: .duplicateMember
    case .array, .object, .notObject: .typeError
    case .lateColumn, .extra, .lastExtra: .extraCell
    }
  }

  private static func message(_ fault: MemberFault, _ severity: Severity, at position: RecordPosition) -> String {
    let name = "the member '\(RawText.shortened(fault.label.utf8))' at byte \(Int(position.byte) + fault.byte)"
    switch fault.kind {
    case .syntax(let text): return "\(text) (at byte \(Int(position.byte) + fault.byte))"
    case .duplicateName: return "\(name) occurs twice in its object; remove one of the two"
    case .secondValue:
      return "\(name) is of a column that has a value from another member of the record; remove one of the two"
    case .array:
      return "\(name) is an array, and a column has one value; write the value, or leave the member out of the pipeline"
    case .object:
      return "\(name) is an object; name the column after a member of it, "
        + "'\(RawText.shortened(fault.label.utf8)).', a dot and the member's name"
    case .notObject: return "\(name) is not an object, and the pipeline's columns are members of it; correct the record"
    case .halfCharacter:
      return "\(name) has an escape \\uD800 to \\uDFFF that is half of a character; write both halves, or remove it"
    case .lateColumn:
      return "\(name) is not in the first records, which decide the columns of the input; replay the rejects, or put a "
        + "record that has it first"
    case .lastExtra:
      return "no column of the pipeline has \(name), and so many other members have none that further ones are ignored "
        + "without a warning"
    case .extra:
      let found = "no column of the pipeline has \(name), and the first records lack it"
      return severity == .error ? "\(found); add the column, or remove the member" : "\(found); it is ignored"
    }
  }
}
