import Foundation
import OpenCoreData
import PersistentStores

/// The stored objects whose versions a save has counted up because objects were linked to them or unlinked: sorted
/// primary keys by the name of their root entity.
struct LinkedKeys: Sendable {
  private(set) var keys: [String: [Int64]] = [:]

  var isEmpty: Bool { keys.isEmpty }

  init() {}

  init(_ ids: some Sequence<NSManagedObjectID>) {
    // By the scope of their keys: a store and a root entity. Nearly all have one.
    var found: [(scope: UInt64, root: NSEntityDescription, keys: [Int64])] = []
    var last = 0
    for id in ids {
      let id = id.isTemporaryID ? id.resolved : id
      guard let key = id.storeKey else { continue }
      let scope = id.key.scope
      if last >= found.count || found[last].scope != scope {
        last = found.firstIndex { $0.scope == scope } ?? found.count
        if last == found.count { found.append((scope, id.entity.rootEntity, [])) }
      }
      found[last].keys.append(key)
    }
    for (_, root, all) in found {
      guard let name = root.name else { continue }
      keys[name] = ((keys[name] ?? []) + all).sortedUniquely()
    }
  }

  /// Leaves out entries whose change is recorded otherwise.
  mutating func remove(_ removed: some Sequence<Int64>, of root: String) {
    guard let own = keys[root] else { return }
    let removed = Set(removed)
    let rest = own.filter { !removed.contains($0) }
    keys[root] = rest.isEmpty ? nil : rest
  }

  /// Sorted keys as bytes: the differences, each in groups of seven bits. A key below 1, which only a damaged row has,
  /// is left out.
  static func encoded(_ keys: [Int64]) -> Data {
    var bytes: [UInt8] = []
    var last: Int64 = 0
    for key in keys where key > 0 {
      var rest = UInt64(key - last)
      while rest >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(rest))
      last = key
    }
    return Data(bytes)
  }

  /// From `encoded`; nil for bytes that are damaged.
  static func decoded(_ data: Data) -> [Int64]? {
    var (keys, last, rest, shift) = ([Int64](), Int64(0), UInt64(0), UInt64(0))
    for byte in data {
      guard shift < 63 else { return nil }
      rest |= UInt64(byte & 0x7F) << shift
      shift += 7
      if byte & 0x80 != 0 { continue }
      let (key, overflow) = last.addingReportingOverflow(Int64(clamping: rest))
      if overflow { return nil }
      keys.append(key)
      (last, rest, shift) = (key, 0, 0)
    }
    return shift == 0 ? keys : nil
  }
}
