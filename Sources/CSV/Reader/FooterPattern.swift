import Foundation
import SystemSupport

/// Finds the record with which a footer begins (`CSVDialect.stopAt`).
struct FooterPattern {
  private enum Form {
    /// A pattern without special characters: it is compared without an expression, which is much faster.
    case prefix([UInt8])
    case expression(NSRegularExpression)
  }

  private let form: Form

  init(_ pattern: String) throws(CSVError) {
    let expression = try CSVDialect.footerExpression(pattern)
    let isPlain = !pattern.contains { "\\^$.|?*+()[]{}".contains($0) }
    form = isPlain ? .prefix(Array(pattern.utf8)) : .expression(expression)
  }

  /// Index of the first record from `first` on whose first field begins with a match; nil if there is none.
  func start(in block: RecordBlock, from first: Int) -> Int? {
    block.records[first...].firstIndex { record in
      guard let field = block.field(0, of: record) else { return false }
      switch form {
      case .prefix(let prefix):
        if !field.needsUnescaping { return block.bytes[field.range].starts(with: prefix) }
        var value: [UInt8] = []
        block.appendValue(of: field, to: &value)
        return value.starts(with: prefix)
      case .expression(let expression):
        // A record for which it is undecided is read as one, so that none is lost.
        if case .match = expression.boundedMatch(in: block.string(of: field), options: .anchored) { return true }
        return false
      }
    }
  }
}
