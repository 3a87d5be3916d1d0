@testable import PipelineDefinition

// The engine reads bytes; the tables of the tests hold texts.

extension DateFormat {
  func seconds(text: String) -> Double? {
    let bytes = Array(text.utf8)
    return seconds(bytes.span)
  }

  func isImpossibleDate(text: String) -> Bool {
    let bytes = Array(text.utf8)
    return isImpossibleDate(bytes.span)
  }
}

extension NumberText {
  static func integer(text: String) -> Int64? {
    let bytes = Array(text.utf8)
    return integer(bytes.span)
  }

  static func real(text: String) -> Double? {
    let bytes = Array(text.utf8)
    return real(bytes.span)
  }
}

extension QuantityPattern {
  func verdict(text: String) -> Verdict {
    let bytes = Array(text.utf8)
    return verdict(bytes.span)
  }
}

extension FieldParser {
  func parse(text: String) -> (value: FieldValue?, faults: [FieldFault]) {
    let bytes = Array(text.utf8)
    var faults: [FieldFault] = []
    let value = parse(bytes.span, faults: &faults)
    return (value, faults)
  }

  func issues(text: String) -> [RecordIssue] {
    let bytes = Array(text.utf8)
    let position = RecordPosition(input: "log.csv", record: 3, line: 4, byte: 90)
    return parse(text: text).faults.map { issue(for: $0, bytes: bytes.span, at: position, field: 2) }
  }
}
