/// The state of an object in its life cycle. docs/invariants.md has the table of all states.
struct ObjectState: OptionSet {
  let rawValue: UInt16
  static let inserted = ObjectState(rawValue: 1)
  static let updated = ObjectState(rawValue: 2)
  static let deleted = ObjectState(rawValue: 4)
  static let fault = ObjectState(rawValue: 8)
  /// Inserted, with values newer than those packed in its segment.
  static let unpacked = ObjectState(rawValue: 16)
  /// In `awakeFromFetch` or `awake(fromSnapshotEvents:)`: values set now do not count as changes.
  static let awaking = ObjectState(rawValue: 32)
  /// A fault whose row was missing: deleted, its values all nil.
  static let inaccessible = ObjectState(rawValue: 64)
  /// Updated, and its row was deleted elsewhere: a save inserts it again.
  static let recreated = ObjectState(rawValue: 128)
  /// In `willTurnIntoFault`.
  static let turningIntoFault = ObjectState(rawValue: 256)
  /// Inserted with the defaults, by itself, and its values are those packed in its segment.
  static let fresh = ObjectState(rawValue: 512)
  /// Fresh, and values were set since: these count as changed.
  static let written = ObjectState(rawValue: 1024)
}
