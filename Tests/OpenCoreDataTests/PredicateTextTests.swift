import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
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

    init(_ left: String, _ operation: TextOperation, _ options: TextOptions, _ right: String, _ holds: Bool) {
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
    .init("é", .equal, [], "e\u{301}", false), .init("é", .equal, caseOnly, "E\u{301}", true),
    .init("É", .equal, caseOnly, "é", true), .init("É", .equal, marksOnly, "E", true),
    .init("É", .equal, marksOnly, "e", false), .init("É", .equal, both, "e", true),
    .init("straße", .equal, caseOnly, "STRASSE", true), .init("K", .equal, caseOnly, "k", true),
    .init("Z", .less, [], "a", true), .init("Z", .less, caseOnly, "a", false),
    .init("a", .less, [], "ab", true), .init("ab", .greaterOrEqual, [], "ab", true),
    .init("\u{FFFF}", .less, [], "🌊", true),
    .init("Nazaré", .contains, both, "AZAR", true), .init("Nazaré", .endsWith, marksOnly, "re", true),
    .init("Nazaré", .endsWith, [], "é", true), .init("Nazare\u{301}", .contains, caseOnly, "E", false),
    .init("Nazaré", .beginsWith, caseOnly, "nAZ", true), .init("Na", .beginsWith, [], "Naz", false),
    .init("pipe", .contains, [], "", false), .init("pipe", .beginsWith, caseOnly, "", false),
    .init("pipe", .endsWith, [], "", false), .init("", .contains, [], "", false),
    .init("", .equal, [], "", true),
    .init("pipe", .like, [], "p*e", true), .init("pipe", .like, [], "p?pe", true),
    .init("pipe", .like, [], "?????", false),
    .init("pipe", .like, [], "*", true), .init("", .like, [], "*", true), .init("", .like, [], "?", false),
    .init("pipe", .like, [], "pip", false), .init("pipe", .like, [], "**p**e**", true),
    .init("aXbXc", .like, [], "a*X?", true), .init("aaaaab", .like, [], "*aab", true),
    .init("é", .like, [], "?", true),
    .init("🌊x", .like, [], "?x", true), .init("a*b", .like, [], "a\\*b", true),
    .init("axb", .like, [], "a\\*b", false),
    .init("a\\", .like, [], "a\\", true), .init("a\nb", .like, [], "a?b", true),
    .init("PÍPE", .like, both, "p*pe", true),
    .init("ab", .matches, [], "a|ab", true), .init("ab", .matches, [], "a", false),
    .init("AB", .matches, caseOnly, "ab", true),
    .init("Á", .matches, marksOnly, "A", true), .init("ab", .matches, [], "(?x) a b # both", true),
    .init("a", .matches, [], "[", false), .init("", .matches, [], "", true),
    .init("", .matches, [], "\\w*", true),
    .init("ab", .matches, [], "a)|(b", false),
  ]

  @Test(arguments: cases) func text(_ test: Case) {
    #expect(TextComparison.holds(test.operation, test.options, test.left, test.right) == test.holds)
    let folded =
      test.options.isEmpty || test.operation == .matches
      ? test.right : TextFolding.fold(test.right, test.options)
    #expect(
      TextComparison.holds(test.operation, test.options.union(.rightIsFolded), test.left, folded)
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
            operation, [], TextFolding.foundationFold(left, options),
            TextFolding.foundationFold(right, options))
          #expect(
            TextComparison.holds(operation, options, left, right) == slow,
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

  @Test("the SQL functions are 0 or NULL for what is no text, and refuse unknown operations and indexes")
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
