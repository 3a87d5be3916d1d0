/// The event that restored an object's values. (Apple documentation: NSSnapshotEventType.)
public struct NSSnapshotEventType: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// An undo or redo has taken the insertion of the object back.
  public static let undoInsertion = NSSnapshotEventType(rawValue: 1 << 1)
  /// An undo or redo has taken the deletion of the object back.
  public static let undoDeletion = NSSnapshotEventType(rawValue: 1 << 2)
  /// An undo or redo has restored earlier values.
  public static let undoUpdate = NSSnapshotEventType(rawValue: 1 << 3)
  /// `rollback()` restored its last committed values.
  public static let rollback = NSSnapshotEventType(rawValue: 1 << 4)
  /// `refresh(_:mergeChanges:)` applied its changes to newer values.
  public static let refresh = NSSnapshotEventType(rawValue: 1 << 5)
  /// A merge policy gave it values of the store.
  public static let mergePolicy = NSSnapshotEventType(rawValue: 1 << 6)
}

extension NSManagedObject {
  /// Calls `awake(fromSnapshotEvents:)` if the object has values. Values set there do not count as changes.
  func awake(after event: NSSnapshotEventType) {
    guard !isFault else { return }
    whileAwaking { awake(fromSnapshotEvents: event) }
  }
}
