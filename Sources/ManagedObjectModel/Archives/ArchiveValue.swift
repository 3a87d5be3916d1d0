import Foundation

/// A value of a property list, including the references that keyed archives consist of.
///
/// `PropertyListSerialization` reads such references too, but returns them as a private Foundation class whose number
/// can't be read. `BinaryPropertyListReader` therefore reads binary property lists.
enum ArchiveValue: Equatable {
  case null
  case flag(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case data(Data)
  case date(Date)
  /// A position in the archive's table of objects.
  case reference(Int)
  case list([ArchiveValue])
  case dictionary([String: ArchiveValue])

  var integer: Int64? {
    switch self {
    case .integer(let number): number
    case .flag(let flag): flag ? 1 : 0
    case .real(let number): Int64(exactly: number)
    default: nil
    }
  }

  var real: Double? {
    switch self {
    case .real(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }

  var dictionary: [String: ArchiveValue]? { if case .dictionary(let values) = self { values } else { nil } }
  var list: [ArchiveValue]? { if case .list(let values) = self { values } else { nil } }
}

/// Why bytes can't be read as an archive, as a clause that says what and where.
package struct ArchiveProblem: Error, Equatable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
