import Foundation

/// A point in the history of one or several stores: the last transaction of each. (Apple documentation:
/// NSPersistentHistoryToken.)
///
/// Keep it where the program that reads the history keeps its settings:
///
/// ```swift
/// let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
/// let data = try token.map { try NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true) }
/// ```
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding {
  /// By the stores' UUIDs.
  let numbers: [String: Int64]

  init(_ numbers: [String: Int64]) { self.numbers = numbers }

  public static var supportsSecureCoding: Bool { true }

  private static let key = "transactions"

  public required init?(coder: NSCoder) {
    guard let data = coder.decodeObject(of: NSData.self, forKey: Self.key),
      let numbers = try? JSONDecoder().decode([String: Int64].self, from: data as Data)
    else { return nil }
    self.numbers = numbers
  }

  public func encode(with coder: NSCoder) {
    guard let data = try? JSONEncoder().encode(numbers) else { return }
    coder.encode(data as NSData, forKey: Self.key)
  }

  public func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool { (object as? NSPersistentHistoryToken)?.numbers == numbers }
  open override var hash: Int { numbers.hashValue }
  open override var description: String {
    let parts = numbers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return "<NSPersistentHistoryToken \(parts.joined(separator: ", "))>"
  }
}

extension NSPersistentStoreCoordinator {
  /// The present end of the history of `stores` (nil: of all); nil if none of them tracks one, or if one can't be read.
  /// (Apple documentation: currentPersistentHistoryToken(fromStores:).)
  public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
    let chosen = stores.map { $0.compactMap { $0 as? NSPersistentStore } } ?? persistentStores
    var numbers: [String: Int64] = [:]
    for store in chosen.compactMap(\.historyStore) {
      // A token without a store would later read all of its history again.
      guard let last = try? store.lastTransactionNumber() else { return nil }
      numbers[store.identity.uuid] = last
    }
    return numbers.isEmpty ? nil : NSPersistentHistoryToken(numbers)
  }
}

extension NSPersistentStore {
  /// Nil for a store that tracks no history.
  var historyStore: (any HistoryTrackingStore)? {
    (rowStore as? any HistoryTrackingStore).flatMap { $0.tracksHistory ? $0 : nil }
  }
}
