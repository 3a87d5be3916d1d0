import PipelineDefinition

/// Recognizes times of day by the patterns of ``DateFormat``.
enum TimeReader {
  /// Each pattern after a date, compiled.
  private static let formats = DateForm.times.map { pattern in (pattern, try? DateFormat("yyyy-MM-dd " + pattern)) }
  private static let day = Array("2000-01-01 ".utf8)

  /// The first pattern that reads a text; nil if none does.
  static func pattern(_ bytes: [UInt8]) -> String? {
    guard bytes.count >= 3, bytes.count <= 20, bytes[0].isDigit else { return nil }
    let text = day + bytes
    return formats.first { $0.1?.seconds(text.span) != nil }?.0
  }

  /// The patterns of a column of times, and how many values they read.
  static func guess(_ values: [[UInt8]]) -> (patterns: [String], read: Int) {
    var counts: [String: Int] = [:]
    for value in values {
      if let pattern = pattern(value) { counts[pattern, default: 0] += 1 }
    }
    let patterns = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    return (patterns, counts.values.reduce(0, +))
  }
}
