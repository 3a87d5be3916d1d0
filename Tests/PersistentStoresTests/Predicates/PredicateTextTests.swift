import Foundation
import ModelTestSupport
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import PersistentStores

/// Rules of text: without options the bytes decide; `[c]` and `[d]` fold as Foundation folds; an empty text is
/// contained in, begins and ends nothing (as in Foundation, where a search for it finds nothing).
@Suite("Predicate text operators: one implementation, Foundation's folding")
struct PredicateTextTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let left: String
    let operation: TextOperation
    let options: TextOptions
    let right: String
    let holds: Bool

    init(_ left: String, _ operation: TextOperation, options: TextOptions, right: String, holds: Bool) {
      (self.left, self.operation, self.options, self.right, self.holds) = (
        left, operation, options, right, holds
      )
    }

    var testDescription: String { "\(left) \(operation)[\(options.rawValue)] \(right)" }
  }

  static let caseOnly: TextOptions = [.caseInsensitive]
  static let marksOnly: TextOptions = [.diacriticInsensitive]
  static let both: TextOptions = [.caseInsensitive, .diacriticInsensitive]

  static let cases: [Case] = [
    .init("é", .equal, options: [], right: "e\u{301}", holds: false),
    .init("é", .equal, options: caseOnly, right: "E\u{301}", holds: true),
    .init("É", .equal, options: caseOnly, right: "é", holds: true),
    .init("É", .equal, options: marksOnly, right: "E", holds: true),
    .init("É", .equal, options: marksOnly, right: "e", holds: false),
    .init("É", .equal, options: both, right: "e", holds: true),
    .init("straße", .equal, options: caseOnly, right: "STRASSE", holds: true),
    .init("K", .equal, options: caseOnly, right: "k", holds: true),
    .init("Z", .less, options: [], right: "a", holds: true),
    .init("Z", .less, options: caseOnly, right: "a", holds: false),
    .init("a", .less, options: [], right: "ab", holds: true),
    .init("ab", .greaterOrEqual, options: [], right: "ab", holds: true),
    .init("\u{FFFF}", .less, options: [], right: "🌊", holds: true),
    .init("Nazaré", .contains, options: both, right: "AZAR", holds: true),
    .init("Nazaré", .endsWith, options: marksOnly, right: "re", holds: true),
    .init("Nazaré", .endsWith, options: [], right: "é", holds: true),
    .init("Nazare\u{301}", .contains, options: caseOnly, right: "E", holds: false),
    .init("Nazaré", .beginsWith, options: caseOnly, right: "nAZ", holds: true),
    .init("Na", .beginsWith, options: [], right: "Naz", holds: false),
    .init("pipe", .contains, options: [], right: "", holds: false),
    .init("pipe", .beginsWith, options: caseOnly, right: "", holds: false),
    .init("pipe", .endsWith, options: [], right: "", holds: false),
    .init("", .contains, options: [], right: "", holds: false),
    .init("", .equal, options: [], right: "", holds: true),
    .init("pipe", .like, options: [], right: "p*e", holds: true),
    .init("pipe", .like, options: [], right: "p?pe", holds: true),
    .init("pipe", .like, options: [], right: "?????", holds: false),
    .init("pipe", .like, options: [], right: "*", holds: true), .init("", .like, options: [], right: "*", holds: true),
    .init("", .like, options: [], right: "?", holds: false),
    .init("pipe", .like, options: [], right: "pip", holds: false),
    .init("pipe", .like, options: [], right: "**p**e**", holds: true),
    .init("aXbXc", .like, options: [], right: "a*X?", holds: true),
    .init("aaaaab", .like, options: [], right: "*aab", holds: true),
    .init("é", .like, options: [], right: "?", holds: true),
    .init("🌊x", .like, options: [], right: "?x", holds: true),
    .init("a*b", .like, options: [], right: "a\\*b", holds: true),
    .init("axb", .like, options: [], right: "a\\*b", holds: false),
    .init("a\\", .like, options: [], right: "a\\", holds: true),
    .init("a\nb", .like, options: [], right: "a?b", holds: true),
    .init("PÍPE", .like, options: both, right: "p*pe", holds: true),
    .init("ab", .matches, options: [], right: "a|ab", holds: true),
    .init("ab", .matches, options: [], right: "a", holds: false),
    .init("AB", .matches, options: caseOnly, right: "ab", holds: true),
    .init("Á", .matches, options: marksOnly, right: "A", holds: true),
    .init("ab", .matches, options: [], right: "(?x) a b # both", holds: true),
    .init("a", .matches, options: [], right: "[", holds: false),
    .init("", .matches, options: [], right: "", holds: true),
    .init("", .matches, options: [], right: "\\w*", holds: true),
    .init("ab", .matches, options: [], right: "a)|(b", holds: false),
  ]

  @Test(arguments: cases) func text(_ test: Case) {
    #expect(
      TextComparison.holds(test.operation, options: test.options, left: test.left, right: test.right) == test.holds)
    let folded =
      test.options.isEmpty || test.operation == .matches
      ? test.right : TextFolding.fold(test.right, test.options)
    #expect(
      TextComparison.holds(test.operation, options: test.options.union(.rightIsFolded), left: test.left, right: folded)
        == test.holds,
      "folding the right side beforehand changes nothing")
  }

  @Test(
    "the table folds every letter, and every pair of letters, as Foundation does", .seeded,
    arguments: [caseOnly, marksOnly, both])
  func table(_ options: TextOptions) {
    var generator = Randomness.generator()
    let letters = (UInt32(0)..<0x250).compactMap { Unicode.Scalar($0) }
    for letter in letters {
      let text = String(Character(letter))
      #expect(
        sameBytes(TextFolding.fold(text, options), TextFolding.foundationFold(text, options)),
        "\(letter.value)")
    }
    for _ in 0..<TestLength.rounds(20_000, long: 500_000) {
      var view = String.UnicodeScalarView()
      for _ in 0..<4 { view.append(letters.randomElement(using: &generator) ?? "a") }
      let text = String(view)
      #expect(
        sameBytes(TextFolding.fold(text, options), TextFolding.foundationFold(text, options)),
        "\(text.debugDescription)")
    }
  }

  @Test("the comparison of ASCII without folding agrees with folding", arguments: TextOperation.allCases)
  func ascii(_ operation: TextOperation) {
    guard operation != .matches else { return }
    let texts = RandomPredicates.texts
    for left in texts {
      for right in texts {
        for options in [Self.caseOnly, Self.marksOnly, Self.both] {
          let slow = TextComparison.holds(
            operation, options: [], left: TextFolding.foundationFold(left, options),
            right: TextFolding.foundationFold(right, options))
          #expect(
            TextComparison.holds(operation, options: options, left: left, right: right) == slow,
            "\(left.debugDescription) \(right.debugDescription)")
        }
      }
    }
  }

  @Test("folding what is folded changes nothing")
  func idempotent() {
    for options in [Self.caseOnly, Self.marksOnly, Self.both] {
      for text in RandomPredicates.texts {
        let folded = TextFolding.fold(text, options)
        #expect(sameBytes(TextFolding.fold(folded, options), folded), "\(text.debugDescription)")
      }
    }
  }

  @Test("the SQL functions are 0 or NULL for what is not text, and refuse unknown operations and indexes")
  func functions() throws {
    let database = try PredicateDatabase()
    #expect(try database.run(SQLFragment("SELECT OCD_STRING_COMPARE(0, 0, NULL, 'a')")) == [[.integer(0)]])
    #expect(try database.run(SQLFragment("SELECT OCD_STRING_COMPARE(0, 0, 3, '3')")) == [[.integer(0)]])
    #expect(try database.run(SQLFragment("SELECT OCD_STRING_COMPARE(0, 1, 'A', 'a')")) == [[.integer(1)]])
    #expect(
      try database.run(SQLFragment("SELECT OCD_STRING_FOLD(3, 'É'), OCD_STRING_FOLD(1, NULL)")) == [
        [.text("e"), .null]
      ])
    #expect(throws: (any Error).self) {
      try database.run(SQLFragment("SELECT OCD_STRING_COMPARE(99, 0, 'a', 'a')"))
    }
    #expect(throws: (any Error).self) { try database.run(SQLFragment("SELECT OCD_LIST_VALUE(x'01', 0)")) }
  }

  @Test("a packed list gives back each value, and never reads past damaged bytes")
  func packedList() throws {
    let values: [StoredValue] = [
      .integer(.min), .real(0.1), .text(""), .text("a\0é"), .blob(Data()), .blob(Data([1, 2])), .null,
      .real(-.infinity),
    ]
    let packed = [UInt8](try PackedValueList.pack(values))
    for (index, value) in values.enumerated() {
      #expect(PackedValueList.value(at: Int64(index), in: packed.span) == value)
    }
    #expect(PackedValueList.value(at: -1, in: packed.span) == nil)
    #expect(PackedValueList.value(at: Int64(values.count), in: packed.span) == nil)
    var generator = Randomness.generator()
    for _ in 0..<TestLength.rounds(5_000, long: 100_000) {
      var damaged = packed
      damaged[Int.random(in: 0..<48, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      damaged.removeLast(Int.random(in: 0..<damaged.count, using: &generator))
      for index in 0..<9 { _ = PackedValueList.value(at: Int64(index), in: damaged.span) }
    }
  }

  private func sameBytes(_ left: String, _ right: String) -> Bool {
    left.utf8.elementsEqual(right.utf8)
  }
}
