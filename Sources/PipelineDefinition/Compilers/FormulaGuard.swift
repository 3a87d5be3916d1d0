/// Texts and labels that a spreadsheet would run as formulas, and the apostrophe that prevents it.
///
/// The signs are those of OWASP's "CSV Injection". The apostrophe itself is guarded too, so that removing one from the
/// beginning of each text gives the original.
package enum FormulaGuard {
  private static let sign = UInt8(ascii: "'")

  /// Whether the text begins with a sign that starts a formula, or with an apostrophe.
  package static func isNeeded(_ text: Span<UInt8>) -> Bool {
    guard !text.isEmpty else { return false }
    switch text[0] {
    case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0x09, 0x0D, sign: return true
    default: return false
    }
  }

  /// Replaces the contents of `guarded` by the guarded text.
  package static func write(_ text: ArraySlice<UInt8>, to guarded: inout [UInt8]) {
    guarded.removeAll(keepingCapacity: true)
    guarded.append(sign)
    guarded += text
  }

  /// The label as it is exported.
  package static func guarded(_ label: String) -> String { isNeeded(Array(label.utf8).span) ? "'" + label : label }

  /// The label that was exported as another one; nil for one that has no guard.
  static func unguarded(_ label: String) -> String? {
    guard label.utf8.first == sign else { return nil }
    let rest = String(label.dropFirst())
    return guarded(rest) == label ? rest : nil
  }
}
