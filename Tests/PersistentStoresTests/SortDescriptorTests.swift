import Foundation
import ModelTestSupport
import Testing

@testable import ManagedObjectModel
@testable import PersistentStores

/// A class whose properties are computed, as generated managed objects' are, and which can name them.
private final class Wave: KeyPathNaming {
  var read: [String] = []

  var height: Double? {
    read.append("height")
    return nil
  }

  var name: String {
    read.append("name")
    return ""
  }

  static func propertyNames(of keyPath: AnyKeyPath) -> [String]? {
    guard let partial = keyPath as? PartialKeyPath<Wave> else { return nil }
    let recorder = Wave()
    _ = recorder[keyPath: partial]
    return recorder.read.isEmpty ? nil : recorder.read
  }
}

/// A final class with stored properties, which Swift's own description of a key path names.
private final class Board {
  var length = 0.0
  var maker: String?
  var spare: Board?
  var computed: Int { 3 }
}

@Suite("Sort descriptors: keys are read back, SQL and memory order alike")
struct SortDescriptorTests {
  @Test("a key, its direction and its reverse can be read back")
  func key() throws {
    let descriptor = NSSortDescriptor(key: "spot.name", ascending: false)
    #expect(descriptor.key == "spot.name")
    #expect(!descriptor.ascending)
    let reversed = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
    #expect(reversed.key == "spot.name" && reversed.ascending)
    #expect(try SortKey(descriptor) == SortKey(keyPath: ["spot", "name"], ascending: false))
    #expect(descriptor == NSSortDescriptor(key: "spot.name", ascending: false))
    #expect(descriptor != reversed)
    #expect(descriptor.hash == NSSortDescriptor(key: "spot.name", ascending: false).hash)
  }

  @Test("Swift key paths have names where the class records reading, or properties are stored")
  func keyPaths() throws {
    let cases: [(NSSortDescriptor, String?)] = [
      (NSSortDescriptor(keyPath: \Wave.name, ascending: true), "name"),
      (NSSortDescriptor(keyPath: \Wave.height, ascending: true), "height"),
      (NSSortDescriptor(keyPath: \Board.length, ascending: true), "length"),
      (NSSortDescriptor(keyPath: \Board.maker, ascending: true), "maker"),
      (NSSortDescriptor(keyPath: \Board.spare?.maker, ascending: true), "spare.maker"),
      (NSSortDescriptor(keyPath: \Board.computed, ascending: true), nil),
      (NSSortDescriptor(keyPath: \Int.self, ascending: true), nil),
    ]
    for (descriptor, expected) in cases { #expect(descriptor.key == expected) }
    #expect(try SortKey(cases[1].0) == SortKey(keyPath: ["height"], ascending: true))
    #expect { try SortKey(cases[5].0) } throws: {
      ($0 as NSError).code == 134060
        && ($0 as NSError).localizedDescription.contains("NSSortDescriptor(key:ascending:)")
    }
  }

  @Test("a fetch refuses a comparator and a missing key, with advice")
  func refused() {
    let comparator = NSSortDescriptor(key: "a", ascending: true) { _, _ in .orderedSame }
    #expect { try SortKey(comparator) } throws: { ($0 as NSError).localizedDescription.contains("(key 'a')") }
    for key in [nil, ""] {
      #expect { try SortKey(NSSortDescriptor(key: key, ascending: true)) } throws: {
        ($0 as NSError).localizedDescription.contains("without a key")
      }
    }
  }

  @Test("terms of ORDER BY, pinned")
  func sql() {
    let keys = [SortKey(keyPath: ["date"], ascending: false), SortKey(keyPath: ["name"], ascending: true)]
    let sql = keys.sql { "t0.Z" + $0.joined().uppercased() }
    #expect(sql == SQLFragment("t0.ZDATE DESC, t0.ZNAME"))
    #expect([SortKey]().sql { _ in "" } == SQLFragment(""))
  }

  @Test("dictionaries and objects sort in memory by key, nil first, text by bytes")
  func memory() {
    let rows: [[String: Any]] = [["n": "b"], ["n": "É"], ["n": "a"], [:], ["n": "B"], ["n": NSNull()]]
    let descriptor = NSSortDescriptor(key: "n", ascending: true)
    let sorted = rows.sorted { descriptor.compare($0, to: $1) == .orderedAscending }
    #expect(sorted.map { $0["n"] as? String } == [nil, nil, "B", "a", "b", "É"])
    let objects = rows.map { SurfSession($0) }
    let down = NSSortDescriptor(key: "n", ascending: false)
    #expect(objects.sorted { down.compare($0, to: $1) == .orderedAscending }[0].values["n"] as? String == "É")
    let plain = NSSortDescriptor(key: nil, ascending: true)
    #expect([3, 1, 2].sorted { plain.compare($0, to: $1) == .orderedAscending } == [1, 2, 3])
  }

  @Test("a comparator of the caller's is given values, NSNull for nil")
  func comparator() {
    let byLength = NSSortDescriptor(key: "n", ascending: true) { left, right in
      let (left, right) = ((left as? String)?.count ?? -1, (right as? String)?.count ?? -1)
      return left < right ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
    }
    let rows: [[String: Any]] = [["n": "ccc"], ["n": "a"], [:]]
    #expect(
      rows.sorted { byLength.compare($0, to: $1) == .orderedAscending }.map { $0["n"] as? String } == [
        nil, "a", "ccc",
      ])
    let reversed = byLength.reversedSortDescriptor as? NSSortDescriptor
    #expect(reversed?.compare(rows[0], to: rows[1]) == .orderedAscending)
  }

  @Test("values order as in SQLite: null, numbers exactly, text by bytes, blobs")
  func storedOrder() {
    let ascending: [StoredValue] = [
      .null, .real(-.infinity), .integer(.min), .real(-0.5), .integer(0), .real(0.5), .integer(1),
      .real(0x1p53), .integer(1 << 53 + 1), .integer(.max), .real(0x1p63), .real(.infinity),
      .text(""), .text("B"), .text("a"), .text("a\0"), .text("aa"), .text("é"), .text("\u{FFFF}"), .text("🌊"),
      .blob(Data()), .blob(Data([0])), .blob(Data([0, 0])), .blob(Data([255])),
    ]
    for (i, left) in ascending.enumerated() {
      for (j, right) in ascending.enumerated() {
        #expect(StoredValueOrder.compare(left, right).signum() == (i - j).signum(), "\(left) \(right)")
      }
    }
    #expect(StoredValueOrder.compare(.real(.nan), .null) == 0)
    #expect(StoredValueOrder.compare(.real(-0.0), .integer(0)) == 0)
    for text in ["0.1", "123456.789", "0.000001234", "1e-30", "-9007199254740993"] {
      #expect(Decimal(string: text)?.storedReal == Double(text), "the nearest double")
    }
    #expect(StoredValueOrder.compare(.decimal(Decimal(string: "0.1") ?? 0), .real(0.1)) == 0)
    let key = SortKey(keyPath: ["a"], ascending: false)
    #expect(
      key.areInIncreasingOrder(.integer(2), .integer(1))
        && !key.areInIncreasingOrder(.integer(1), .integer(1)))
  }
}
