import ManagedObjectModel
import Foundation

/// The identity of a managed object: temporary until a save reaches a store, permanent from then on.
///
/// IDs may be sent between threads freely. A temporary ID stays equal to itself after the object has its permanent one;
/// `NSManagedObject.objectID` and every context then return the permanent ID, and lookups accept either. (Apple
/// documentation: NSManagedObjectID.)
///
/// ```swift
/// let id = session.objectID
/// try await background.perform {
///   let same = try background.existingObject(with: id)
///   same.setValue(5, forKey: "rating")
///   try background.save()
/// }
/// ```
public final class NSManagedObjectID: NSObject, NSCopying, Sendable {
  package enum Reference: Sendable {
    case temporary(TemporaryIDRange, row: Int)
    case permanent(StoreIdentity, key: Int64)
  }

  /// The part that many IDs share. Imports create millions of IDs, so each holds only one reference and a number.
  private enum Origin: Sendable {
    case temporary(TemporaryIDRange)
    case permanent(PermanentIDSpace)
  }

  private let origin: Origin
  /// The row in the range, or the key in the store.
  private let number: Int64

  package init(range: TemporaryIDRange, row: Int) {
    origin = .temporary(range)
    number = Int64(row)
  }

  package init(space: PermanentIDSpace, key: Int64) {
    origin = .permanent(space)
    number = key
  }

  package convenience init(entity: NSEntityDescription, store: StoreIdentity, key: Int64) {
    self.init(space: PermanentIDSpace(store, entity), key: key)
  }

  /// The entity of the object. (Apple documentation: entity.)
  ///
  /// ```swift
  /// let names = Set(ids.compactMap(\.entity.name))
  /// ```
  public var entity: NSEntityDescription {
    switch origin {
    case .temporary(let range): range.entity
    case .permanent(let space): space.entity
    }
  }

  package var reference: Reference {
    switch origin {
    case .temporary(let range): .temporary(range, row: Int(number))
    case .permanent(let space): .permanent(space.store, key: number)
    }
  }

  package var key: ObjectKey {
    switch origin {
    case .temporary(let range): ObjectKey(scope: 0, number: range.first + UInt64(number))
    case .permanent(let space): space.key(number)
    }
  }

  /// The row of the batch that the object was inserted with; nil for a permanent ID.
  package var batchRow: Int? {
    if case .temporary = origin { Int(number) } else { nil }
  }

  /// The key that a store allocated for the object; nil while the ID is temporary.
  package var storeKey: Int64? {
    if case .permanent = origin { number } else { nil }
  }

  /// The store that a permanent ID belongs to.
  package var storeIdentity: StoreIdentity? {
    if case .permanent(let space) = origin { space.store } else { nil }
  }

  /// Whether the ID was given before a save reached a store. It stays true for this ID; ask the object for its new one.
  /// (Apple documentation: isTemporaryID.)
  ///
  /// ```swift
  /// if session.objectID.isTemporaryID { try context.obtainPermanentIDs(for: [session]) }
  /// ```
  public var isTemporaryID: Bool {
    if case .temporary = origin { true } else { false }
  }

  /// The permanent ID of the object if it has one, otherwise this ID.
  package var resolved: NSManagedObjectID {
    guard case .temporary(let range) = origin, let permanent = range.permanent(row: Int(number)) else { return self }
    return NSManagedObjectID(entity: range.entity, store: permanent.store, key: permanent.key)
  }

  /// A URL that names the object: `x-coredata://STORE-UUID/Entity/pN` for a permanent ID, `x-coredata:///Entity/tUUID`
  /// for a temporary one. In an incremental or atomic store, N is the reference object. (Apple documentation:
  /// uriRepresentation().)
  ///
  /// The URL of a permanent ID may be stored, and a coordinator finds the ID again
  /// (`managedObjectID(forURIRepresentation:)`). The URL of a temporary ID is of use to this process only.
  ///
  /// ```swift
  /// let text = id.uriRepresentation().absoluteString  // may be stored
  /// let found = URL(string: text).flatMap { coordinator.managedObjectID(forURIRepresentation: $0) }
  /// ```
  public func uriRepresentation() -> URL {
    let name = entity.name ?? ""
    let text =
      switch reference {
      case .temporary(let range, let row):
        "x-coredata:///\(name)/t\(Self.temporaryUUID(range.first + UInt64(row)).uuidString)"
      case .permanent(let store, let key):
        "x-coredata://\(store.uuid)/\(name)/p\(store.references?.uriText(of: key) ?? String(key))"
      }
    // Entity names are identifiers and store UUIDs hexadecimal; other characters still give a readable URL.
    return URL(string: text) ?? URL(fileURLWithPath: text)
  }

  /// A UUID for a serial number: the half that distinguishes processes is random and generated once.
  private static func temporaryUUID(_ serial: UInt64) -> UUID {
    let text = hexadecimal(processHalf) + hexadecimal(serial)
    let cuts = [0, 8, 12, 16, 20, 32]
    let groups = zip(cuts, cuts.dropFirst()).map { String(text.dropFirst($0).prefix($1 - $0)) }
    // Thirty-two hexadecimal digits in five groups are always a UUID.
    return UUID(uuidString: groups.joined(separator: "-")) ?? UUID()
  }
  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
  private static let processHalf = UInt64.random(in: .min ... .max)

  /// The ID itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectID else { return false }
    return other === self || other.key == key
  }
  // Sets mix the hash themselves.
  public override var hash: Int { Int(truncatingIfNeeded: key.number ^ (key.scope << 20)) }
  public override var description: String { uriRepresentation().absoluteString }
}

/// The shared part of the IDs of one entity's objects in one store.
package final class PermanentIDSpace: Sendable {
  package let store: StoreIdentity
  package let entity: NSEntityDescription
  package let scope: UInt64

  package init(_ store: StoreIdentity, _ entity: NSEntityDescription) {
    self.store = store
    self.entity = entity
    scope = store.scope(ofEntity: entity.name ?? "")
  }

  package func key(_ number: Int64) -> ObjectKey { ObjectKey(scope: scope, number: UInt64(bitPattern: number)) }
}

/// The keys by which contexts find objects: the compared part of an identity, without a heap object.
package struct ObjectKey: Hashable, Sendable {
  /// 0 for temporary identities; otherwise the store and the root entity, whose subentities share one key sequence.
  package let scope: UInt64
  package let number: UInt64

  init(scope: UInt64, number: UInt64) {
    self.scope = scope
    self.number = number
  }

  package var isTemporary: Bool { scope == 0 }

  /// Equal numbers of different scopes seldom meet in one table.
  @usableFromInline var word: UInt64 { number &+ scope &* 0x9E37_79B9_7F4A_7C15 }

  @inlinable package static func == (left: ObjectKey, right: ObjectKey) -> Bool {
    left.number == right.number && left.scope == right.scope
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(word) }

  /// What tables use. Contexts hash millions of keys, which stores number in sequence: one multiplication mixes the word
  /// with the seed of the table.
  @inlinable package func _rawHashValue(seed: Int) -> Int {
    let mixed = (word ^ UInt64(bitPattern: Int64(seed))).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    return Int(truncatingIfNeeded: mixed.high ^ mixed.low)
  }
}

extension NSManagedObjectID: PredicateIdentity, PredicateIdentifiable {
  /// The value by which predicates compare objects in memory: equal for equal IDs in any store.
  package var comparisonValue: StoredValue {
    let key = resolved.key
    return .text("\(key.scope).\(key.number)")
  }

  /// The same value for the object with that key in a store; null for null.
  static func comparisonValue(ofKey key: StoredValue, scope: UInt64) -> StoredValue {
    guard case .integer(let number) = key else { return .null }
    return .text("\(scope).\(UInt64(bitPattern: number))")
  }

  package var predicateIdentity: any PredicateIdentity { self }
}
