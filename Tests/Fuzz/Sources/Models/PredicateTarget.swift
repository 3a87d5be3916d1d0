import Foundation
import ManagedObjectModel
import PersistentStores

/// Any text gives a predicate or an error with its position; a predicate prints as what it is, and has the same answers
/// in memory and in SQLite.
enum PredicateTarget: FuzzTarget {
  static let name = "predicates"
  static let bytesMax = 256
  static let words = [
    "rating", "height", "price", "clean", "date", "name", "link", "uid", "photo", " == ", " != ", " >= ", " BETWEEN ",
    " IN ", " CONTAINS", "[cd]", " BEGINSWITH ", " ENDSWITH ", " LIKE ", " MATCHES ", " AND ", " OR ", "NOT ", "{1, 2}",
    "TRUEPREDICATE", "CAST(1, \"NSDate\")", "%@", "%K", "$V", "nil", "YES", "SELF", "ANY ", "\\u00e9", "0x1F", "1e-3",
    "9223372036854775808", "#in",
  ]
  static let seeds = [
    "rating >= 3 AND name CONTAINS[cd] 'pi\\u00e9'",
    "NOT (height < 2.5 OR date == CAST(0.1, \"NSDate\")) || clean == YES",
    "rating IN {1, 2.5, nil} AND price BETWEEN {0, 5}", "name LIKE[c] '*a?b*' AND name MATCHES '[a-z]+'", "%K == %@",
    "photo == %@ OR uid == nil && link BEGINSWITH 'a'", "5 <= rating", "#in == $V",
  ].map { Array($0.utf8) }

  /// Unchecked: one thread runs targets.
  nonisolated(unsafe) private static let rows = try? PredicateRows()

  static func run(_ input: inout FuzzInput) {
    let format = input.text
    do {
      let arguments: [Any?] = ["rating", 3, [1, 2], Date(timeIntervalSinceReferenceDate: 5), "é"]
      check(try NSPredicate.parse(format: format, arguments: arguments).predicateNode(), format)
    } catch {
      let position = (error as NSError).userInfo["NSPredicateFormatPosition"] as? Int ?? 0
      if !(1...format.unicodeScalars.count + 1).contains(position) {
        broken("an error has a position in the text", "\(error) in \(format)")
      }
    }
  }

  private static func check(_ node: PredicateNode, _ format: String) {
    let printed = node.formatDescription
    do {
      let again = try NSPredicate.parse(format: printed).predicateNode()
      requireEqual(again.formatDescription, printed, rule: "a predicate prints as what it is: \(format)")
      // A list that was an argument is printed as a list of expressions.
      if !format.contains("%") { requireEqual(again, node, rule: "a printed predicate parses to itself: \(format)") }
    } catch {
      broken("a printed predicate parses", "\(printed)\n\(error)")
    }
    guard let rows, let bound = try? node.bound(to: rows) else { return }
    do {
      let (sqlite, memory) = try rows.answers(bound)
      requireEqual(sqlite, memory, rule: "memory and SQLite agree on \(printed)")
    } catch {
      if (error as NSError).code != 134180 { broken("a bound predicate is SQL", "\(printed)\n\(error)") }
    }
  }
}
