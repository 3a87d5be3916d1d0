import Foundation
@testable import OpenCoreData

/// What a context announces of its objects, by their numbers. It does not hold them.
final class AnnouncedNumbers {
  // Unchecked: posted and read on the context's queue, on which the players stand.
  private final class Store: @unchecked Sendable {
    var numbers: [String: Set<Int>] = [:]
  }
  private let store = Store()
  private var token: (any NSObjectProtocol)?

  init(_ context: NSManagedObjectContext) {
    token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { [store] notification in
      for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
        let objects = notification.userInfo?[key] as? Set<NSManagedObject> ?? []
        store.numbers[key, default: []].formUnion(objects.compactMap { $0.value(forKey: "number") as? Int })
      }
    }
  }

  /// What was announced since the last call.
  func take() -> [String: Set<Int>] {
    defer { store.numbers = [:] }
    return store.numbers
  }

  deinit { token.map(NotificationCenter.default.removeObserver) }
}

/// What a context says of the changes of relationships.
extension GraphPlayer {
  /// How the changes that the context shows differ from those of the reference; nil if they do not. All relationships were
  /// read before.
  func changeDisagreement() throws -> String? {
    let (now, below) = (references[0], references[1])
    for (number, kind) in now.kinds.sorted(by: { $0.key < $1.key }) {
      let (object, keys) = (try object(number), GraphReference.keys(kind))
      let committed = object.committedValues(forKeys: keys)
      guard below.kinds[number] != nil else {
        if !object.isInserted || !committed.isEmpty { return "\(number) is new, and has committed values\(history)" }
        continue
      }
      let changed = keys.filter { now.related(number, $0) != below.related(number, $0) }
      let shown = object.changedValues().filter { $0.key != "number" }
      if shown.keys.sorted() != changed.sorted() {
        return "the changed values of \(number) are of \(shown.keys.sorted()), expected \(changed.sorted())\(history)"
      }
      for key in keys {
        let (found, expected) = (Self.numbers(in: committed[key]), below.related(number, key))
        if found != expected { return "committed \(number).\(key) is \(found), expected \(expected)\(history)" }
        if let value = shown[key], Self.numbers(in: value) != now.related(number, key) {
          return "changed \(number).\(key) is \(Self.numbers(in: value))\(history)"
        }
      }
      if !changed.isEmpty, !object.isUpdated || !object.hasPersistentChangedValues || !leaf.hasChanges {
        return "\(number) does not count as updated\(history)"
      }
    }
    return nil
  }

  /// What the context has not announced of a step that made a change; nil if nothing is missing.
  ///
  /// - Parameter before: The reference before the step.
  func announcementGap(since before: GraphReference) -> String? {
    leaf.processPendingChanges()
    let announced = announced.take()
    func gap(_ numbers: [Int], in keys: String...) -> String? {
      let missing = numbers.filter { number in !keys.contains { announced[$0]?.contains(number) == true } }
      return missing.isEmpty ? nil : "\(missing) are not announced as \(keys.joined(separator: " or "))\(history)"
    }
    let now = references[0]
    let (new, gone) = (
      now.kinds.keys.filter { before.kinds[$0] == nil }, before.kinds.keys.filter { now.kinds[$0] == nil }
    )
    let changed = now.kinds.filter { number, kind in
      before.kinds[number] != nil
        && GraphReference.keys(kind).contains { now.related(number, $0) != before.related(number, $0) }
    }
    return gap(new, in: NSInsertedObjectsKey)
      ?? gap(gone.filter { references[1].kinds[$0] != nil }, in: NSDeletedObjectsKey)
      ?? gap(Array(changed.keys), in: NSInsertedObjectsKey, NSUpdatedObjectsKey)
  }

  private static func numbers(in value: Any?) -> [Int] {
    func number(_ object: Any?) -> Int? { (object as? NSManagedObject)?.value(forKey: "number") as? Int }
    return switch value {
    case let set as NSOrderedSet: set.array.compactMap(number)
    case let set as NSSet: set.allObjects.compactMap(number).sorted()
    default: [number(value)].compactMap(\.self)
    }
  }
}
