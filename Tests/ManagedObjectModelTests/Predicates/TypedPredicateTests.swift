import Foundation
import ManagedObjectModel
import Testing

// Rule (Apple documentation: NSPredicate, init(_:)): a predicate of #Predicate is converted where its parts have a form.

/// An object whose key paths name stored properties.
final class Surfboard: NSObject {
  var name = ""
  var note: String?
  var length = 0
  var width = 0.0
  var isNew = false
  var owner: Rider?
  var riders: Set<Rider> = []
}

final class Rider: NSObject {
  var name = ""
  var age = 0
  var boards: Set<Surfboard> = []
}

@Suite("Predicates of #Predicate become predicates with a format")
struct TypedPredicateTests {
  static let conversions: [(String, @Sendable () throws -> NSPredicate)] = [
    ("name == \"x\"", { try .converted(#Predicate<Surfboard> { $0.name == "x" }) }),
    ("length > 3 AND width <= 1.5", { try .converted(#Predicate<Surfboard> { $0.length > 3 && $0.width <= 1.5 }) }),
    ("length < 3 OR NOT length != 9", { try .converted(#Predicate<Surfboard> { $0.length < 3 || !($0.length != 9) }) }),
    ("length >= 3", { try atLeast(3) }),
    ("isNew == YES", { try .converted(#Predicate<Surfboard> { $0.isNew }) }),
    ("note == nil", { try .converted(#Predicate<Surfboard> { $0.note == nil }) }),
    ("note == \"x\"", { try .converted(#Predicate<Surfboard> { $0.note == "x" }) }),
    ("TERNARY(note == nil, \"\", note) == \"x\"", { try .converted(#Predicate<Surfboard> { ($0.note ?? "") == "x" }) }),
    ("owner.name == \"x\"", { try .converted(#Predicate<Surfboard> { $0.owner?.name == "x" }) }),
    ("name CONTAINS \"x\"", { try .converted(#Predicate<Surfboard> { $0.name.contains("x") }) }),
    ("name BEGINSWITH \"x\"", { try .converted(#Predicate<Surfboard> { $0.name.starts(with: "x") }) }),
    ("length(name) > 3", { try .converted(#Predicate<Surfboard> { $0.name.count > 3 }) }),
    ("riders.@count > 2", { try .converted(#Predicate<Surfboard> { $0.riders.count > 2 }) }),
    (
      "SUBQUERY(riders, $element1, $element1.age > 3).@count > 0",
      { try .converted(#Predicate<Surfboard> { $0.riders.contains { $0.age > 3 } }) }
    ),
    (
      "SUBQUERY(riders, $element1, NOT $element1.age > 3).@count == 0",
      { try .converted(#Predicate<Surfboard> { $0.riders.allSatisfy { $0.age > 3 } }) }
    ),
    (
      "SUBQUERY(riders, $element1, $element1.name == name).@count > 2",
      { try .converted(#Predicate<Surfboard> { board in board.riders.filter { $0.name == board.name }.count > 2 }) }
    ),
    ("length IN {1, 2}", { try .converted(#Predicate<Surfboard> { [1, 2].contains($0.length) }) }),
    ("length >= 1 AND length <= 3", { try .converted(#Predicate<Surfboard> { (1...3).contains($0.length) }) }),
    ("length >= 1 AND length < 3", { try .converted(#Predicate<Surfboard> { (1..<3).contains($0.length) }) }),
    ("length >= 2 AND length <= 5", { try within(2...5) }),
    ("length + 2 * length > 3", { try .converted(#Predicate<Surfboard> { $0.length + 2 * $0.length > 3 }) }),
    ("width / 2.0 > 1.0", { try .converted(#Predicate<Surfboard> { $0.width / 2.0 > 1.0 }) }),
    ("modulus:by:(length, 2) == 1", { try .converted(#Predicate<Surfboard> { $0.length % 2 == 1 }) }),
    ("0 - length < 3", { try .converted(#Predicate<Surfboard> { -$0.length < 3 }) }),
  ]

  private static func atLeast(_ least: Int) throws -> NSPredicate {
    try .converted(#Predicate<Surfboard> { $0.length >= least })
  }

  private static func within(_ bounds: ClosedRange<Int>) throws -> NSPredicate {
    try .converted(#Predicate<Surfboard> { bounds.contains($0.length) })
  }

  @Test("Each part has its form", arguments: conversions.indices)
  func conversion(_ index: Int) throws {
    let (format, make) = Self.conversions[index]
    let expected = NSPredicate(format: format)
    #expect(try make().formatDescription == expected.formatDescription)
  }

  @Test("Objects match as they do in Swift")
  func evaluation() throws {
    let predicate = #Predicate<Surfboard> { board in
      board.length > 2 && board.riders.contains { $0.age > board.length } && (board.owner?.name ?? "") != "Bob"
    }
    let converted = try #require(NSPredicate(predicate))
    for length in 1...4 {
      for age in 2...5 {
        for owner in [nil, "Ann", "Bob"] {
          let board = Surfboard()
          let rider = Rider()
          (board.length, rider.age, board.riders) = (length, age, [rider])
          board.owner = owner.map { name in
            let rider = Rider()
            rider.name = name
            return rider
          }
          let values: [String: Any] = [
            "length": length, "riders": [["age": age]], "owner": owner.map { ["name": $0] } as Any? ?? NSNull(),
          ]
          #expect(try converted.evaluate(with: values) == predicate.evaluate(board), "\(length) \(age) \(owner ?? "-")")
        }
      }
    }
  }

  @Test("A part without a form is named")
  func unknown() {
    let ranks = ["x": 1]
    let predicate = #Predicate<Surfboard> { ranks[$0.name] == 1 }
    #expect(NSPredicate(predicate) == nil)
    let error = #expect(throws: NSError.self) { try NSPredicate.converted(predicate) }
    #expect(error?.localizedDescription.contains("DictionaryKeySubscript") == true)
  }

  @Test("Sort descriptors of Swift become those of Foundation")
  func sorting() {
    let descriptor = NSSortDescriptor(SortDescriptor(\Surfboard.name, comparator: .lexical, order: .reverse))
    #expect(descriptor.key == "name" && !descriptor.ascending)
    let length = NSSortDescriptor(SortDescriptor(\Surfboard.length))
    #expect(length.key == "length" && length.ascending)
    let boards = ["b", "a"].map { ["name": $0] as NSDictionary }
    let last = ["name": "c"] as NSDictionary
    #expect(boards.allSatisfy { descriptor.compare($0, to: last) == .orderedDescending })
  }
}
