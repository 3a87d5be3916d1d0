import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (NSFetchedResultsControllerDelegate): only insertions and deletions of sections exist; taking out what is
// deleted or moved and putting in what is inserted or moved, in order, leads from any list to any other.

@Suite("The changes between two lists lead from one to the other", .withoutStore("It compares lists"))
struct ResultsChangesTests {
  private typealias Sections = [(name: String, rows: [Int])]

  @Test("Any two lists, sections in any order", .seeded, arguments: Randomness.seeds(300, long: 10_000))
  func anyLists(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let (old, new) = (Self.sections(&random), Self.sections(&random))
    let changes = ResultsChanges(
      from: Self.list(old), to: Self.list(new),
      origins: new.flatMap(\.rows).map { row in
        .init(rank: old.flatMap(\.rows).firstIndex(of: row), isTouched: row.isMultiple(of: 2), keepsOrder: false)
      })
    let result = Self.applied(changes, to: old, new: new)
    #expect(result.map(\.name) == new.map(\.name), "seed \(seed)")
    #expect(result.map(\.rows) == new.map(\.rows), "seed \(seed)")
    #expect(changes.updates.allSatisfy { new.flatMap(\.rows)[$0.new].isMultiple(of: 2) })
  }

  @Test("As few as possible move")
  func fewMoves() {
    let old = [1, 2, 3, 4, 5, 6]
    #expect(ResultsChanges.staying([6, 1, 2, 3, 5, 4].map { ($0, false) }) == [false, true, true, true, false, true])
    #expect(ResultsChanges.staying([6, 1, 2].map { ($0, $0 == 6) }) == [true, false, false])
    #expect(ResultsChanges.staying(old.map { ($0, $0 == 3) }).allSatisfy { $0 })
    #expect(ResultsChanges.staying([]).isEmpty)
  }

  private static func sections(_ random: inout SeededGenerator) -> Sections {
    var rows = Array((0..<14).shuffled(using: &random).prefix(Int.random(in: 0...14, using: &random)))
    let names = ["A", "B", "C", "D", "E"].shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random))
    return names.compactMap { name in
      let count = min(rows.count, Int.random(in: 1...5, using: &random))
      defer { rows.removeFirst(count) }
      return count == 0 ? nil : (name, Array(rows.prefix(count)))
    }
  }

  private static func list(_ sections: Sections) -> ResultsList {
    ResultsList(
      sections.flatMap(\.rows).map { NSNumber(value: $0) }, sections: sections.map { ($0.name, $0.rows.count) })
  }

  private static func applied(_ changes: ResultsChanges, to old: Sections, new: Sections) -> Sections {
    let (before, after) = (list(old), list(new))
    let numbers = new.flatMap(\.rows)
    var result = old
    for rank in (changes.deletions + changes.moves.map(\.old)).sorted(by: >) {
      let path = before.indexPath(ofRank: rank)
      result[path.section].rows.remove(at: path.item)
    }
    for section in changes.deletedSections { result.remove(at: section) }
    for section in changes.insertedSections { result.insert((new[section].name, []), at: section) }
    for rank in (changes.insertions + changes.moves.map(\.new)).sorted() {
      let path = after.indexPath(ofRank: rank)
      result[path.section].rows.insert(numbers[rank], at: path.item)
    }
    return result
  }
}
