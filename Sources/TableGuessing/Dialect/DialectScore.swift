/// How well a candidate dialect explains a text.
///
/// The measure follows van den Burg, Nazábal and Sutton, "Wrangling messy CSV files by detecting row and type
/// patterns" (2019): regular numbers of fields times the share of fields that look like a value of some type.
struct DialectScore: Sendable, Hashable {
  let dialect: CandidateDialect
  /// The number of fields that most records have.
  private(set) var width = 1
  /// Share of records with that number.
  private(set) var regularity = 0.0
  /// Mean over fields, from 0 to 1.
  private(set) var types = 0.0
  private(set) var records = 0
  private(set) var quotedCells = 0
  private(set) var brokenRecords = 0
  /// Whether every second field of every regular record is empty: the delimiter is half of the real one.
  private(set) var hasHollowColumns = false

  static let recordsMax = 400

  init(_ bytes: [UInt8], _ dialect: CandidateDialect) {
    self.dialect = dialect
    let found = RecordSplitter.records(of: bytes, dialect, limit: Self.recordsMax).filter { !$0.isBlank }
    records = found.count
    guard !found.isEmpty else { return }
    quotedCells = found.reduce(0) { $0 + $1.cells.count(where: \.isQuoted) }
    brokenRecords = found.count(where: \.isBroken)
    var widths: [Int: Int] = [:]
    for record in found { widths[record.cells.count, default: 0] += 1 }
    let wide = widths.filter { $0.key > 1 }
    let usual = dialect.delimiter.isEmpty ? widths : wide
    guard let mode = usual.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { return }
    width = mode.key
    regularity = Double(mode.value) / Double(found.count)
    let regular = found.filter { $0.cells.count == width }
    types = Self.types(regular)
    hasHollowColumns =
      width >= 3 && !width.isMultiple(of: 2)
      && regular.allSatisfy { record in
        stride(from: 1, to: width, by: 2).allSatisfy { record.cells[$0].bytes.isEmpty && !record.cells[$0].isQuoted }
      }
  }

  /// Greater is better.
  var value: Double {
    if dialect.delimiter.isEmpty { return types * 0.35 }
    let broken = Double(brokenRecords) / Double(max(1, records))
    return regularity * (1 - 1 / Double(width)) * types * Self.prior(dialect.delimiter) * (1 - broken / 2)
  }

  /// How usual a delimiter is. Spaces and colons are in texts and times.
  private static func prior(_ delimiter: [UInt8]) -> Double {
    switch delimiter {
    case [UInt8(ascii: ":")]: 0.75
    case [32]: 0.6
    default: 1
    }
  }

  private static func types(_ records: [SplitRecord]) -> Double {
    var (sum, count, empty) = (0.0, 0, 0)
    for record in records {
      for cell in record.cells {
        if cell.isEmpty, !cell.isQuoted { empty += 1 } else { (sum, count) = (sum + score(cell), count + 1) }
      }
    }
    guard count > 0 else { return 0 }
    return sum / Double(count) * (empty > count ? 0.85 : 1)
  }

  private static func score(_ cell: SplitCell) -> Double {
    if cell.isBroken { return 0 }
    let bytes = cell.bytes.trimmed
    if CellKind(bytes) != .text { return 1 }
    return cell.isQuoted ? 0.97 : plainTextScore(bytes)
  }

  /// Text that holds what is a delimiter elsewhere is probably several fields.
  private static func plainTextScore(_ bytes: [UInt8]) -> Double {
    var score = 0.92
    for (index, byte) in bytes.enumerated() {
      let next = index + 1 < bytes.count ? bytes[index + 1] : 0
      switch byte {
      case UInt8(ascii: ";"), UInt8(ascii: "|"), 9: score = min(score, next == 32 ? 0.3 : 0.15)
      case UInt8(ascii: ","): score = min(score, next == 32 ? 0.75 : 0.25)
      case UInt8(ascii: "\""): score = min(score, 0.4)
      case UInt8(ascii: ":"): score = min(score, next == 32 ? 0.85 : 0.6)
      default: break
      }
    }
    return score
  }
}
