/// The lifecycle methods of `NSManagedObject` that a class overrides.
///
/// Apple's framework asks the Objective-C runtime. Here the class declares them, and contexts make objects for a hook
/// only if it is declared. A class that declares nothing counts as overriding everything, which is always correct and
/// only slower. Generated classes declare an empty set, for exactly that class.
public struct LifecycleHooks: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The class overrides `awakeFromInsert()`.
  public static let awakeFromInsert = LifecycleHooks(rawValue: 1 << 0)
  /// The class overrides `awakeFromFetch()`.
  public static let awakeFromFetch = LifecycleHooks(rawValue: 1 << 1)
  /// The class overrides `willSave()`.
  public static let willSave = LifecycleHooks(rawValue: 1 << 2)
  /// The class overrides `didSave()`.
  public static let didSave = LifecycleHooks(rawValue: 1 << 3)
  /// `validateForInsert`, `validateForUpdate`, `validateForDelete`, `validateValue(_:forKey:)` or
  /// `propertyValidators`.
  public static let validation = LifecycleHooks(rawValue: 1 << 4)
  /// The class overrides `prepareForDeletion()`.
  public static let prepareForDeletion = LifecycleHooks(rawValue: 1 << 5)
  /// Every hook; what a class has that declares nothing.
  public static let all: LifecycleHooks = [
    .awakeFromInsert, .awakeFromFetch, .willSave, .didSave, .validation, .prepareForDeletion,
  ]

  // The other hooks (`awake(fromSnapshotEvents:)`, `willTurnIntoFault`) concern objects that exist anyway, because they
  // were changed or read.
}
