/// One way in which a column writes its dates.
///
/// A named format (``names``) or a pattern of Unicode TR35 letters: `y yy yyyy M MM d dd H HH m mm s ss S… X XX XXX Z
/// ZZZZZ`, other letters within `'…'`. `M`, `d`, `H`, `m`, `s` read one or two digits, doubled letters exactly two.
/// `yy` is a year of 1950–2049, as `DateFormatter` has it by default. A pattern without a zone means UTC, one without
/// a time midnight. The calendar is the proleptic Gregorian and strict: no 30 February, no hour 24, no second 60.
public struct DateFormat: Sendable, Hashable {
  private enum Kind: Sendable, Hashable {
    case iso8601
    case seconds
    case pattern(DatePattern)
  }

  /// The text it was made from: a name or a pattern.
  public let text: String
  private let kind: Kind

  /// ISO 8601; written with as many fraction digits as the stored value needs.
  public static let iso8601 = DateFormat(text: "iso8601", kind: .iso8601)

  /// Names that stand for a format everywhere: `iso8601`; `seconds` for seconds since 2001-01-01 UTC as the shortest
  /// decimal number that reads back the same, `inf` and `-inf` included.
  public static let names = ["iso8601", "seconds"]

  private init(text: String, kind: Kind) {
    self.text = text
    self.kind = kind
  }

  /// - Parameters:
  ///   - text: A name or a pattern.
  ///   - patterns: Further names, and the patterns that they stand for.
  /// - Throws: A ``PipelineError`` that says which letters a pattern may have.
  public init(_ text: String, named patterns: [String: String] = [:]) throws(PipelineError) {
    switch text {
    case "iso8601": self = .iso8601
    case "seconds": self.init(text: text, kind: .seconds)
    default:
      let names = (Self.names + patterns.keys).sorted()
      self.init(text: text, kind: .pattern(try DatePattern(patterns[text] ?? text, names: names)))
    }
  }

  /// Seconds since 2001-01-01 UTC, rounded correctly; `nil` when `bytes` are no such date. Allocates nothing for
  /// fractions of up to nine digits of any date of these centuries.
  public func seconds(_ bytes: Span<UInt8>) -> Double? {
    switch kind {
    case .iso8601:
      return ISODateReader.seconds(bytes)
    case .seconds:
      return SecondsText.seconds(bytes)
    case .pattern(let pattern):
      guard let fields = pattern.fields(bytes), fields.exists else { return nil }
      return fields.seconds(in: bytes)
    }
  }

  /// For messages: whether the shape was right and only the day or time does not exist.
  func isImpossibleDate(_ bytes: Span<UInt8>) -> Bool {
    let fields =
      switch kind {
      case .iso8601: ISODateReader.fields(bytes)
      case .seconds: DateFields?.none
      case .pattern(let pattern): pattern.fields(bytes)
      }
    return fields.map { !$0.exists } ?? false
  }

  /// Appends the date as text; false, with nothing appended, when the format cannot express it: a value that is not
  /// finite (`seconds` has infinities too), or a year outside 0–9999 in a pattern.
  public func append(_ seconds: Double, to output: inout [UInt8]) -> Bool {
    switch kind {
    case .iso8601: DateText.append(seconds, to: &output)
    case .seconds: SecondsText.append(seconds, to: &output)
    case .pattern(let pattern): pattern.append(seconds, to: &output)
    }
  }

  /// As `append`, and false also when reading the text would not give the value back bit for bit: a pattern leaves
  /// out what it has no letters for, the other formats keep all that they can express.
  public func appendExactly(_ seconds: Double, to output: inout [UInt8]) -> Bool {
    let start = output.count
    guard append(seconds, to: &output) else { return false }
    guard case .pattern = kind else { return true }
    if self.seconds(output.span.extracting(start..<output.count))?.bitPattern == seconds.bitPattern { return true }
    output.removeLast(output.count - start)
    return false
  }

  /// The date as text, or `nil` where `append` says false.
  public func string(_ seconds: Double) -> String? {
    var bytes: [UInt8] = []
    return append(seconds, to: &bytes) ? String(decoding: bytes, as: UTF8.self) : nil
  }

  /// An example in this format for messages: 2014-07-14 07:30 UTC.
  var example: String { string(427_015_800) ?? text }
}
