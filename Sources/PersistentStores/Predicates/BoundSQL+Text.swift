import ManagedObjectModel
import Foundation

extension BoundSQL {
  /// SQLite's own operators if they are exactly equivalent, otherwise `OCD_STRING_COMPARE`.
  func condition(_ text: BoundText) throws -> SQLFragment {
    let left = try value(text.left)
    if text.options.isEmpty, case .key = text.left, case .value(.text(let value)) = text.right,
      let builtIn = builtIn(left.text, text.operation, value: value)
    {
      return builtIn
    }
    let right = try value(text.right)
    return SQLFragment(
      "\(PredicateSQLFunction.stringCompare.name)"
        + "(\(text.operation.rawValue), \(text.options.rawValue), \(left.text), \(right.text))",
      left.bindings + right.bindings)
  }

  private func builtIn(_ column: String, _ operation: TextOperation, value: String) -> SQLFragment? {
    switch operation {
    case .contains, .beginsWith, .endsWith: if value.isEmpty { return SQLFragment("0") }
    default: return nil
    }
    switch operation {
    case .contains:
      // Both are text, so instr searches for the bytes of one in the other, including NUL bytes.
      return SQLFragment("instr(\(column), ?) > 0", [.text(value)])
    case .beginsWith:
      // UTF-8 sorts like its scalars: the texts that begin with "ab" are those in the range from "ab" to before "ac".
      guard let end = BoundPredicate.successor(ofPrefix: value) else { return nil }
      return SQLFragment("(\(column) >= ? AND \(column) < ?)", [.text(value), .text(end)])
    case .endsWith:
      // As blobs, since substr of text counts characters and stops at NUL.
      let suffix = Data(value.utf8)
      return SQLFragment(
        "substr(CAST(\(column) AS BLOB), ?) = ?", [.integer(Int64(-suffix.count)), .blob(suffix)])
    default:
      return nil
    }
  }
}

extension BoundPredicate {
  /// The least text greater than all that begin with `prefix`; nil if there is none.
  package static func successor(ofPrefix prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // Surrogate code points are not scalars.
      let code = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let next = Unicode.Scalar(code) else { continue }
      return String(String.UnicodeScalarView(scalars + [next]))
    }
    return nil
  }
}
