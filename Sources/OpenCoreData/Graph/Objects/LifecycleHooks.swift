/// Which lifecycle methods of `NSManagedObject` a class overrides.
///
/// Apple's framework asks the Objective-C runtime; here the class says so itself, and contexts make objects for the
/// sake of a hook only where it is declared. A class that declares nothing is taken to override everything, which
/// is always right and only slower. Generated classes declare an empty set for exactly themselves.
public struct LifecycleHooks: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let awakeFromInsert = LifecycleHooks(rawValue: 1 << 0)
  public static let awakeFromFetch = LifecycleHooks(rawValue: 1 << 1)
  public static let willSave = LifecycleHooks(rawValue: 1 << 2)
  public static let didSave = LifecycleHooks(rawValue: 1 << 3)
  /// `validateForInsert`, `validateForUpdate`, `validateForDelete`, `validateValue(_:forKey:)` or
  /// `propertyValidators`.
  public static let validation = LifecycleHooks(rawValue: 1 << 4)
  public static let all: LifecycleHooks = [.awakeFromInsert, .awakeFromFetch, .willSave, .didSave, .validation]

  // The others (`prepareForDeletion`, `awake(fromSnapshotEvents:)`, `willTurnIntoFault`) are about objects that are there
  // anyway, because somebody deleted, changed or read them.

  /// Hooks for whose sake a save must show every inserted object.
  static let atSave: LifecycleHooks = [.willSave, .didSave, .validation]
}
