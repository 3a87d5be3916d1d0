/// A fast path for the ordinary fields of a column, chosen once per column.
///
/// A kernel accepts only what is certainly valid and leaves everything else to ``FieldParser/parse(_:faults:)``,
/// which alone diagnoses faults.
package enum FieldKernel: Sendable {
  /// A text whose number of bytes is in the range. If it is required, it must not begin with white space.
  case text(bytes: ClosedRange<Int>, isRequired: Bool)
  /// ISO 8601, in seconds since 2001-01-01 UTC.
  case date(ClosedRange<Double>)
  case integer(ClosedRange<Double>)
  case real(ClosedRange<Double>)
  /// No fast path: the parser handles every field.
  case any
}

extension FieldKernel {
  /// The kernel for a column of this type with these checks; `firstFormat` is the date format that is tried first.
  init(
    _ type: ColumnType, _ quickChecks: [QuickCheck], hasTextChecks: Bool, isRequired: Bool, keepsEmptyText: Bool,
    firstFormat: DateFormat?, notation: FieldNotation
  ) {
    self = .any
    if hasTextChecks || keepsEmptyText { return }
    if type.isNumber, !notation.numbers.isPlain { return }
    switch type {
    case .text:
      if let lengths = Self.bytes(quickChecks) { self = .text(bytes: lengths, isRequired: isRequired) }
    case .date:
      if firstFormat == .iso8601, notation.zone == nil, let bounds = Self.bounds(quickChecks) { self = .date(bounds) }
    case .integer(let range):
      if let bounds = Self.bounds(quickChecks + [.within(Double(range.lowerBound), Double(range.upperBound))]),
        range.lowerBound > -1 << 53, range.upperBound < 1 << 53
      {
        self = .integer(bounds)
      }
    case .real: if let bounds = Self.bounds(quickChecks) { self = .real(bounds) }
    case .boolean, .single, .decimal, .uuid, .uri, .binary, .archive: break
    }
  }

  /// The numbers that certainly pass every check; nil if there are none.
  private static func bounds(_ checks: [QuickCheck]) -> ClosedRange<Double>? {
    var (low, high) = (-Double.greatestFiniteMagnitude, Double.greatestFiniteMagnitude)
    for check in checks {
      switch check.test {
      case .within(let least, let greatest): (low, high) = (max(low, least), min(high, greatest))
      case .notAfterNow(let now, _): high = min(high, now)
      case .length: break
      }
    }
    return low <= high ? low...high : nil
  }

  /// The byte counts of texts that are certainly neither empty nor too long nor too short in Unicode scalars of one
  /// to four bytes each.
  private static func bytes(_ checks: [QuickCheck]) -> ClosedRange<Int>? {
    var (low, high) = (1, Int.max)
    for check in checks {
      guard case .length(let least, let greatest) = check.test else { continue }
      (low, high) = (max(low, least > .max / 4 ? .max : least * 4), min(high, greatest))
    }
    return low <= high ? low...high : nil
  }
}

extension QuickCheck {
  fileprivate static func within(_ low: Double, _ high: Double) -> QuickCheck {
    QuickCheck(test: .within(low, high), rule: -1, severity: .error)
  }
}
