import Foundation
import ManagedObjectModel
import PersistentStores

/// Translates statements about Core Data's tables, which are written for SQLite, into PostgreSQL's form: names of
/// tables and columns are quoted, because they are in upper case, and `?` becomes `$1`, `$2`, …, also where it has a
/// number, as in `?1`.
enum StatementText {
  /// A column of join tables and the tables of the history, which do not begin with Z.
  private static let otherNames = Set(
    (["REFLEXIVE"] + HistoryTables.Entity.allCases.map(\.table)).map { Array($0.utf8) })
  private static let ignoring = "INSERT OR IGNORE"

  static func translated(_ sql: String) -> String {
    var text = sql
    var ending = ""
    if text.hasPrefix(ignoring) {
      text = "INSERT" + text.dropFirst(ignoring.count)
      ending = " ON CONFLICT DO NOTHING"
    }
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count + 64)
    let bytes = Array(text.utf8)
    var (index, parameters) = (0, 0)
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\""):
        let end = Self.end(ofQuoted: bytes, from: index)
        result += bytes[index..<end]
        index = end
      case UInt8(ascii: "?"):
        let end = bytes[(index + 1)...].firstIndex { !isDigit($0) } ?? bytes.count
        parameters = Int(String(decoding: bytes[(index + 1)..<end], as: UTF8.self)) ?? parameters + 1
        result += "$\(parameters)".utf8
        index = end
      case _ where isWordByte(byte):
        let end = bytes[index...].firstIndex { !isWordByte($0) } ?? bytes.count
        let word = bytes[index..<end]
        let isName = byte == UInt8(ascii: "Z") || otherNames.contains(Array(word))
        result += isName ? [UInt8(ascii: "\"")] + word + [UInt8(ascii: "\"")] : Array(word)
        index = end
      default:
        result.append(byte)
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self) + ending
  }

  private static func end(ofQuoted bytes: [UInt8], from start: Int) -> Int {
    (bytes[(start + 1)...].firstIndex(of: bytes[start]) ?? bytes.count - 1) + 1
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), 0x80...0xFF:
      true
    default: false
    }
  }
}

extension String {
  /// As the name of a table, column or index.
  var quotedName: String { "\"" + replacingOccurrences(of: "\"", with: "\"\"") + "\"" }
  /// As a text in a statement.
  var quotedText: String { "'" + replacingOccurrences(of: "'", with: "''") + "'" }
}
