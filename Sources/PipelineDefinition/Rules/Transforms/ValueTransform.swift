/// One change to a field's text before it is read as a value and judged by rules.
///
/// In a definition an object `{"transform": NAME, …}`; those without parameters may be just their name. They work in
/// order, each on what the one before it has made. Rules, keys and the store see the outcome; what is reported as the
/// value of a field is its text as it stands in the file.
///
/// | transform | what it does | keys |
/// |---|---|---|
/// | `trim` | removes white space (as Unicode has it) at both ends | – |
/// | `collapse` | makes one space of each run of white space | – |
/// | `upper`, `lower` | changes letter case, by Unicode's mappings, whatever the locale | – |
/// | `title` | makes the first letter of each word a capital and the others small | – |
/// | `map` | replaces whole texts by others | `values`, `ignoreCase` |
/// | `default` | fills fields that are empty by then | `value` |
/// | `replace` | replaces what a regular expression matches | `matches`, `with` |
/// | `convert` | converts quantities from one unit to another | see ``UnitConversion`` |
public enum ValueTransform: Sendable, Hashable {
  case trim
  case collapse
  case upper
  case lower
  case title
  /// Texts that equal a key become its value, letter case aside if so wished; an empty value empties the field.
  case map([String: String], ignoreCase: Bool)
  /// Also where the input lacks the column, and for the dialect's text for nil.
  case fallback(String)
  /// An ICU regular expression, found anywhere in the text, and what takes its place: `$1` is the first group.
  case replace(matches: String, with: String)
  case convert(UnitConversion)

  /// The transform's name in a definition.
  public var name: String {
    switch self {
    case .trim: "trim"
    case .collapse: "collapse"
    case .upper: "upper"
    case .lower: "lower"
    case .title: "title"
    case .map: "map"
    case .fallback: "default"
    case .replace: "replace"
    case .convert: "convert"
    }
  }

  /// Whether it gives a text to records without one.
  var fillsEmpty: Bool {
    if case .fallback = self { return true }
    return false
  }
}

/// Converts quantities such as `3-5ft`: a number, or two with `-` or `–` between, with a unit or without.
///
/// The unit in the text counts; `from` is the one of bare numbers. What is in the target unit already keeps its digits.
/// Sums are exact and rounded once, halves away from zero. Texts that are no such quantity (`Flat`) stay as they are.
public struct UnitConversion: Sendable, Hashable {
  public var from: MeasureUnit
  public var to: MeasureUnit
  /// Digits after the point at most, 0…9; zeros at the end are left out.
  public var digits: Int
  /// Whether the unit is written behind the number: `0.91-1.52m`.
  public var unitShown: Bool
  /// Whether a text that is no quantity is an error.
  public var strict: Bool

  public static let digitsRange = 0...9

  public init(
    from: MeasureUnit, to: MeasureUnit, digits: Int = 2, unitShown: Bool = false, strict: Bool = false
  ) {
    self.from = from
    self.to = to
    self.digits = digits
    self.unitShown = unitShown
    self.strict = strict
  }
}

/// A unit of lengths or speeds, by its name in a definition.
public enum MeasureUnit: String, Sendable, Hashable, Codable, CaseIterable {
  case feet = "ft"
  case meters = "m"
  case knots = "kt"
  case kilometersPerHour = "km/h"
  case milesPerHour = "mph"
  case metersPerSecond = "m/s"

  var isSpeed: Bool { self != .feet && self != .meters }

  /// Its size in tenths of a millimetre, or in millimetres an hour: whole numbers, by the units' definitions.
  var size: UInt64 {
    switch self {
    case .feet: 3048
    case .meters: 10_000
    case .knots: 1_852_000
    case .kilometersPerHour: 1_000_000
    case .milesPerHour: 1_609_344
    case .metersPerSecond: 3_600_000
    }
  }

  /// How people write it, in lower case.
  var spellings: [String] {
    switch self {
    case .feet: ["ft", "foot", "feet", "'", "′"]
    case .meters: ["m", "meter", "meters", "metre", "metres"]
    case .knots: ["kt", "kts", "kn", "knot", "knots"]
    case .kilometersPerHour: ["km/h", "kmh", "kph"]
    case .milesPerHour: ["mph", "mi/h"]
    case .metersPerSecond: ["m/s", "mps"]
    }
  }
}
