/// Records of JSON Lines as a table, for a look at them: a column for each member that has a value in one of them.
package struct JSONLinesSample: Sendable {
  /// A value as text: the content of a string, or a number or Boolean as written.
  package struct Cell: Sendable {
    package var bytes: [UInt8] = []
    /// Whether it is a string.
    package var isText = false
  }

  /// The dotted names of the members, in the order of their first appearance.
  package private(set) var labels: [String] = []
  /// Those whose value is an array in some record, which no column can be.
  package private(set) var arrays: Set<String> = []
  /// A cell for each label, empty for a member that is null or missing.
  package private(set) var records: [[Cell]] = []
  /// Number of lines that are not one object.
  package private(set) var faultyLines = 0

  private static let labelsMax = 2000

  /// Whether the first line of a text that is not blank is one JSON object.
  package static func begins(_ text: [UInt8]) -> Bool {
    lines(text).first.map { JSONCursor.isObject($0.span) && isUTF8($0.span) } ?? false
  }

  /// - Parameter texts: Whole lines, in UTF-8.
  package init(_ texts: [[UInt8]]) {
    let all = texts.flatMap(Self.lines)
    let lines = all.filter { isUTF8($0.span) && JSONCursor.isObject($0.span) }
    faultyLines = all.count - lines.count
    findLabels(lines)
    let (fields, containers) = (Dictionary(uniqueKeysWithValues: zip(labels, labels.indices)), containers)
    let selection = MemberSelection(fieldCount: labels.count, extra: .ignored) { label in
      MemberUse(field: fields[label], isContainer: containers.contains(label))
    }
    var scanner = JSONRecordScanner(selection, fieldBytesMax: .max)
    records = lines.map { line in
      _ = scanner.scan(line.span, 0..<line.count)
      return scanner.fields.map { Self.cell($0, of: line) }
    }
  }

  private static func lines(_ text: [UInt8]) -> [[UInt8]] {
    let mark = text.starts(with: ASCII.byteOrderMark) ? ASCII.byteOrderMark.count : 0
    return text[mark...].split(separator: ASCII.lf).map { Array($0) }.filter { !$0.allSatisfy(JSONText.isSpace) }
  }

  private mutating func findLabels(_ lines: [[UInt8]]) {
    // Every member may have members; those that have none are listed as faults.
    let selection = MemberSelection(fieldCount: 0, extra: .ignored) { _ in MemberUse(isContainer: true) }
    var scanner = JSONRecordScanner(selection, fieldBytesMax: .max)
    var known: Set<String> = []
    for line in lines {
      _ = scanner.scan(line.span, 0..<line.count)
      for fault in scanner.faults where fault.kind == .notObject || fault.kind == .array {
        if fault.kind == .array { arrays.insert(fault.label) }
        if labels.count < Self.labelsMax, known.insert(fault.label).inserted { labels.append(fault.label) }
      }
    }
  }

  /// The labels of objects that have members with labels.
  private var containers: Set<String> {
    var found: Set<String> = []
    for label in labels {
      let names = label.split(separator: ".", omittingEmptySubsequences: false)
      for count in 1..<max(1, names.count) { found.insert(names.prefix(count).joined(separator: ".")) }
    }
    return found
  }

  private static func cell(_ field: FieldSlice, of line: [UInt8]) -> Cell {
    guard field.needsUnescaping else { return Cell(bytes: Array(line[field.range]), isText: field.isQuoted) }
    var cell = Cell(isText: true)
    JSONText.appendUnescaped(line.span.extracting(field.range), to: &cell.bytes)
    return cell
  }
}
