/// A format of dates.
///
/// It is a named format (``names``) or a pattern of Unicode TR35 letters:
/// `y yy yyyy M MM d dd H HH m mm s ss S… X XX XXX Z ZZZZZ`, with other letters in `'…'`. `M`, `d`, `H`, `m`, `s` read one
/// or two digits, doubled letters exactly two. `yy` is a year of 1950–2049, the default of `DateFormatter`. A pattern
/// without a zone means UTC, one without a time midnight. The calendar is the proleptic Gregorian and strict: no
/// 30 February, no hour 24, no second 60.
///
/// ```swift
/// let format = try DateFormat("M/d/yy")
/// let seconds = format.seconds(Array("7/14/14".utf8).span)
/// ```
public struct DateFormat: Sendable, Hashable {
  private enum Kind: Sendable, Hashable {
    case iso8601
    case seconds
    case unix
    case infinity
    case pattern(DatePattern)
  }

  /// The name or pattern that it was created from.
  public let text: String
  private let kind: Kind

  /// ISO 8601; dates are written with as many fraction digits as the stored value needs.
  public static let iso8601 = DateFormat(text: "iso8601", kind: .iso8601)

  /// Names that are available everywhere: `iso8601`; `seconds` for seconds since 2001-01-01 UTC as the shortest
  /// decimal number that reads back the same, including `inf` and `-inf`; `unix` for seconds since 1970-01-01 UTC.
  public static let names = ["iso8601", "seconds", "unix"]

  /// `inf` and `-inf` only: with ``iso8601`` it reads every stored date, and nothing that could be meant otherwise.
  package static let infinity = DateFormat(text: "infinity", kind: .infinity)

  /// The format's pattern; nil for a named one.
  var pattern: DatePattern? {
    guard case .pattern(let pattern) = kind else { return nil }
    return pattern
  }

  private init(text: String, kind: Kind) {
    self.text = text
    self.kind = kind
  }

  init(_ pattern: DatePattern) { self.init(text: pattern.text, kind: .pattern(pattern)) }

  /// Whether `bytes` are a date in this format.
  func reads(_ bytes: Span<UInt8>) -> Bool {
    if let pattern { return pattern.fields(bytes)?.exists == true }
    return seconds(bytes) != nil
  }

  /// Creates a format.
  ///
  /// - Parameters:
  ///   - text: A name or a pattern.
  ///   - patterns: Additional names and their patterns.
  /// - Throws: A ``PipelineError`` that lists the supported letters.
  public init(_ text: String, named patterns: [String: String] = [:]) throws(PipelineError) {
    switch text {
    case "iso8601": self = .iso8601
    case "seconds": self.init(text: text, kind: .seconds)
    case "unix": self.init(text: text, kind: .unix)
    case "infinity": self = .infinity
    default:
      let names = (Self.names + patterns.keys).sorted()
      self.init(text: text, kind: .pattern(try DatePattern(patterns[text] ?? text, names: names)))
    }
  }

  /// Seconds since 2001-01-01 UTC, rounded correctly; `nil` if `bytes` are not a date in this format. It allocates
  /// nothing for fractions of up to nine digits and dates of these centuries.
  public func seconds(_ bytes: Span<UInt8>) -> Double? {
    switch kind {
    case .iso8601:
      return ISODateReader.seconds(bytes)
    case .seconds:
      return SecondsText.seconds(bytes)
    case .unix:
      return UnixSeconds.seconds(bytes)
    case .infinity:
      return SecondsText.infinity(bytes)
    case .pattern(let pattern):
      guard let fields = pattern.fields(bytes), fields.exists else { return nil }
      return fields.seconds(in: bytes)
    }
  }

  /// The components of a date that exists in the calendar; nil for any other text, and for the formats without
  /// components.
  func fields(_ bytes: Span<UInt8>) -> DateFields? {
    let fields =
      switch kind {
      case .iso8601: ISODateReader.fields(bytes)
      case .seconds, .unix, .infinity: DateFields?.none
      case .pattern(let pattern): pattern.fields(bytes)
      }
    return fields.flatMap { $0.exists ? $0 : nil }
  }

  /// Whether texts of this format have components, such as an hour.
  var hasFields: Bool {
    switch kind {
    case .iso8601, .pattern: true
    case .seconds, .unix, .infinity: false
    }
  }

  /// Whether the syntax is right and only the day or time does not exist; for messages.
  func isImpossibleDate(_ bytes: Span<UInt8>) -> Bool {
    let fields =
      switch kind {
      case .iso8601: ISODateReader.fields(bytes)
      case .seconds, .unix, .infinity: DateFields?.none
      case .pattern(let pattern): pattern.fields(bytes)
      }
    return fields.map { !$0.exists } ?? false
  }

  /// Appends the date as text; false, with nothing appended, if the format cannot represent it: a value that is not
  /// finite (`seconds` also has infinities), or a year outside 0–9999 in a pattern.
  public func append(_ seconds: Double, to output: inout [UInt8]) -> Bool {
    switch kind {
    case .iso8601: DateText.append(seconds, to: &output)
    case .seconds: SecondsText.append(seconds, to: &output)
    case .unix: UnixSeconds.append(seconds, to: &output)
    case .infinity: seconds.isInfinite && SecondsText.append(seconds, to: &output)
    case .pattern(let pattern): pattern.append(seconds, to: &output)
    }
  }

  /// As `append`, but false also if reading the text would not give the same value bit for bit. A pattern omits the
  /// components that it has no letters for, and Unix seconds have one text for 0.0 and -0.0; the other formats preserve
  /// every value that they can represent.
  public func appendExactly(_ seconds: Double, to output: inout [UInt8]) -> Bool {
    let start = output.count
    guard append(seconds, to: &output) else { return false }
    switch kind {
    case .iso8601, .seconds, .infinity: return true
    case .unix, .pattern: break
    }
    if self.seconds(output.span.extracting(start..<output.count))?.bitPattern == seconds.bitPattern { return true }
    output.removeLast(output.count - start)
    return false
  }

  /// The date as text, or `nil` if `append` returns false.
  public func string(_ seconds: Double) -> String? {
    var bytes: [UInt8] = []
    return append(seconds, to: &bytes) ? String(decoding: bytes, as: UTF8.self) : nil
  }

  /// An example in this format, for messages: 2014-07-14 07:30 UTC.
  var example: String { string(kind == .infinity ? .infinity : 427_015_800) ?? text }
}
