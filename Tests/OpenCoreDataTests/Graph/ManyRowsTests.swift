import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules: many rows are written as few are. SQLite assigns their keys where it can, with the same result: keys follow
// the order of insertion without gaps, after the greatest that the store knows; every refused row is named; triggers
// see each row with its key.

@Suite("Many rows get the keys that few get, whatever is left out or refused among them", .overBothStores)
struct ManyRowsTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static let count = 1000

  /// Sessions of 0..<1000 whose places the store has already, and sessions that are deleted before the save.
  struct Gaps: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var taken: [Int] = []
    var deleted: [Int] = []
  }

  static let gaps = [
    Gaps(testDescription: "none"),
    Gaps(testDescription: "the first row refused", taken: [0]),
    Gaps(testDescription: "the first rows refused", taken: [0, 1, 2]),
    Gaps(testDescription: "the second row refused", taken: [1]),
    Gaps(testDescription: "the last row refused", taken: [999]),
    Gaps(testDescription: "rows here and there refused", taken: [3, 4, 500, 502, 998]),
    Gaps(testDescription: "the first rows deleted", deleted: [0, 1]),
    Gaps(testDescription: "the last rows deleted", deleted: [998, 999]),
    Gaps(testDescription: "refused next to deleted", taken: [1, 400, 401, 999], deleted: [0, 2, 399, 402, 998]),
    Gaps(testDescription: "the only row after deleted ones refused", taken: [999], deleted: Array(0..<999)),
    Gaps(testDescription: "all but the first deleted", deleted: Array(1..<1000)),
  ]

  @Test(
    "Keys, refusals and what a trigger sees", .sqliteOnly("A trigger of the file watches the rows"), arguments: gaps,
    [false, true])
  func keys(gaps: Gaps, hasTrigger: Bool) throws {
    let stack = try Stack(folder, model: Sessions.model(unique: ["place"]))
    if hasTrigger {
      try stack.sqlite(
        """
        CREATE TABLE SEEN(k, place);
        CREATE TRIGGER notes AFTER INSERT ON ZSESSION BEGIN INSERT INTO SEEN VALUES(NEW.Z_PK, NEW.ZPLACE); END
        """)
      try stack.reopen()
    }
    let context = stack.context()
    try context.performAndWait {
      for number in gaps.taken { InsertionWay.single.insert(number..<number + 1, into: context, stack.entity) }
      // Two more whose keys are given out and never used again: the sequence goes on behind them.
      InsertionWay.single.insert(5000..<5002, into: context, stack.entity)
      try context.save()
      for object in try context.fetch(stack.request()).suffix(2) { context.delete(object) }
      try context.save()
      let firstKey = gaps.taken.count + 3

      let batch = ObjectBatch.sessions(0..<Self.count, stack.entity)
      let ids = Array(context.insert(batch))
      for number in gaps.deleted { context.delete(context.object(with: ids[number])) }
      if !gaps.taken.isEmpty {
        let before = try stack.dump()
        let error = #expect(throws: NSError.self) { try context.save() }
        let refused = error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID]
        #expect(refused == gaps.taken.map { ids[$0] })
        #expect(try stack.dump() == before)
        for number in gaps.taken { context.delete(context.object(with: ids[number])) }
      }
      try context.save()

      let left = (0..<Self.count).filter { !gaps.taken.contains($0) && !gaps.deleted.contains($0) }
      let expected = left.enumerated().map { "\(firstKey + $0)|Spot \($1)" }.joined(separator: "\n")
      #expect(
        try stack.sqlite("SELECT Z_PK, ZPLACE FROM ZSESSION WHERE Z_PK >= \(firstKey) ORDER BY Z_PK") == expected)
      #expect(try stack.sqlite("SELECT Z_MAX FROM Z_PRIMARYKEY") == "\(firstKey + left.count - 1)")
      for (place, number) in left.enumerated() {
        #expect(context.object(with: ids[number]).objectID.storeKey == Int64(firstKey + place))
      }
      if hasTrigger {
        #expect(try stack.sqlite("SELECT k, place FROM SEEN WHERE k >= \(firstKey) ORDER BY k") == expected)
      }
    }
  }
}

extension ObjectBatch {
  fileprivate static func sessions(_ numbers: Range<Int>, _ entity: NSEntityDescription) -> ObjectBatch {
    var batch = ObjectBatch(entity: entity, rowCapacity: numbers.count)
    for number in numbers {
      batch.appendRow()
      batch.setText("Spot \(number)", at: 1)
      batch.setInteger(1, at: 2)
    }
    return batch
  }
}
