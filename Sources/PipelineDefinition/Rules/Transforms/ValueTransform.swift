/// One change of a field's text before it is parsed and validated.
///
/// In a definition it is an object `{"transform": NAME, …}`; a transform without parameters may be its name only.
/// Transforms apply in order, each to the result of the previous one. Rules, keys and the store see the result;
/// reports show the original text of the file.
///
/// | transform | what it does | keys |
/// |---|---|---|
/// | `trim` | removes white space (by Unicode's definition) at both ends | – |
/// | `collapse` | replaces each sequence of white space by one space | – |
/// | `upper`, `lower` | changes letter case by Unicode's mappings, independent of the locale | – |
/// | `title` | makes the first letter of each word a capital and the others small | – |
/// | `map` | replaces whole texts by others | `values`, `ignoreCase` |
/// | `default` | fills fields that are empty at this point | `value` |
/// | `replace` | replaces the matches of a regular expression | `matches`, `with` |
/// | `convert` | converts quantities from one unit to another | see ``UnitConversion`` |
public enum ValueTransform: Sendable, Hashable {
  /// Removes white space at both ends.
  case trim
  /// Replaces each sequence of white space by one space.
  case collapse
  /// Makes letters capital.
  case upper
  /// Makes letters small.
  case lower
  /// Makes the first letter of each word capital and the others small.
  case title
  /// Texts that equal a key are replaced by its value, optionally ignoring letter case; an empty value empties the
  /// field.
  case map([String: String], ignoreCase: Bool)
  /// Also applies if the input lacks the column, and to the dialect's text for nil.
  case fallback(String)
  /// An ICU regular expression, matched anywhere in the text, and its replacement: `$1` is the first group.
  case replace(matches: String, with: String)
  /// Converts a quantity to another unit.
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

  /// Whether it supplies a text for records without one.
  var fillsEmpty: Bool {
    if case .fallback = self { return true }
    return false
  }
}

/// Converts quantities such as `3-5ft`: a number, or two numbers with `-` or `–` between them, with an optional unit.
///
/// The unit in the text takes precedence; `from` is the unit of bare numbers. A quantity in the target unit keeps its
/// digits. Results are computed exactly and rounded once, halves away from zero. Other texts (`Flat`) are unchanged.
public struct UnitConversion: Sendable, Hashable {
  /// The unit of numbers without one.
  public var from: MeasureUnit
  /// The unit of the results.
  public var to: MeasureUnit
  /// The largest number of digits after the point, 0…9; trailing zeros are omitted.
  public var digits: Int
  /// Whether the unit is written after the number: `0.91-1.52m`.
  public var unitShown: Bool
  /// Whether a text that is not a quantity is an error.
  public var strict: Bool

  /// The permitted numbers of `digits`.
  public static let digitsRange = 0...9

  /// Makes a conversion. The parameters are the properties of the same names.
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

/// A unit of length or speed; the raw value is its name in a definition.
public enum MeasureUnit: String, Sendable, Hashable, Codable, CaseIterable {
  /// Feet of 0.3048 m.
  case feet = "ft"
  /// Metres.
  case meters = "m"
  /// Knots: 1852 m per hour.
  case knots = "kt"
  /// Kilometres per hour.
  case kilometersPerHour = "km/h"
  /// Miles of 1609.344 m per hour.
  case milesPerHour = "mph"
  /// Metres per second.
  case metersPerSecond = "m/s"

  var isSpeed: Bool { self != .feet && self != .meters }

  /// Its size in tenths of a millimetre, or in millimetres per hour: whole numbers by the units' definitions.
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

  /// Its accepted spellings, in lower case.
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
