import Foundation

/// How a save resolves conflicts between a context's changes and the present state of the store. (Apple documentation:
/// NSMergePolicy.)
///
/// A policy may change the objects in conflict. After it returns, their changes are saved. If it throws, the save fails
/// with its error and nothing is written. A subclass overrides one of the `resolve` methods and calls `super` for the
/// conflicts that it leaves to the type it was made with.
///
/// ```swift
/// final class LoggingPolicy: NSMergePolicy {
///   override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
///     for conflict in list { print("Conflict: \(conflict.sourceObject.objectID)") }
///     try super.resolve(optimisticLockingConflicts: list)
///   }
/// }
/// ```
open class NSMergePolicy: NSObject {
  /// The type that the policy was made with. (Apple documentation: mergeType.)
  public let mergeType: NSMergePolicyType

  /// A policy of one of the kinds. (Apple documentation: init(merge:).)
  ///
  /// - Parameter ty: What happens to objects in conflict.
  public init(merge ty: NSMergePolicyType) { mergeType = ty }

  /// Resolves version conflicts; `list` holds `NSMergeConflict`s. (The older of Apple's two methods; the newer one
  /// calls it.)
  ///
  /// - Throws: `NSError` 133020 with the conflicts under `NSPersistentStoreSaveConflictsErrorKey`.
  open func resolve(mergeConflicts list: [Any]) throws {
    let conflicts = list.compactMap { $0 as? NSMergeConflict }
    guard mergeType != .errorMergePolicyType else { throw NSError.unresolved(conflicts) }
    let objects = conflicts.filter { $0.persisted != nil }.map(\.sourceObject)
    if mergeType == .rollbackMergePolicyType { NSManagedObject.takeBackRelationships(of: objects) }
    let read = mergeType == .overwriteMergePolicyType ? NSManagedObject.readLinks(of: objects) : []
    for conflict in conflicts { conflict.resolve(mergeType) }
    NSManagedObject.putBack(read)
  }

  /// Resolves version conflicts: rows that were changed or deleted since the context read them.
  ///
  /// - Throws: `NSError` 133020 with the conflicts under `NSPersistentStoreSaveConflictsErrorKey`.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws { try resolve(mergeConflicts: list) }

  /// Resolves conflicts of uniqueness constraints. Between an object of the store and inserted ones the store's object
  /// remains, with the values that the policy prefers.
  ///
  /// - Throws: `NSError` 133021 with the conflicts under `NSPersistentStoreSaveConflictsErrorKey`.
  open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    guard mergeType != .errorMergePolicyType else { throw NSError.unresolved(list) }
    for conflict in list { conflict.resolve(mergeType) }
  }

  /// The default: a save with conflicts fails.
  public class var error: NSMergePolicy { NSErrorMergePolicy }
  /// Merges property by property; if both sides changed one, the store's value is kept.
  public class var mergeByPropertyStoreTrump: NSMergePolicy { NSMergeByPropertyStoreTrumpMergePolicy }
  /// Merges property by property; if both sides changed one, the context's value is saved.
  public class var mergeByPropertyObjectTrump: NSMergePolicy { NSMergeByPropertyObjectTrumpMergePolicy }
  /// The whole object is saved as the context has it.
  public class var overwrite: NSMergePolicy { NSOverwriteMergePolicy }
  /// The context's changes of objects in conflict are discarded.
  public class var rollback: NSMergePolicy { NSRollbackMergePolicy }
}

/// The kinds of merge policies, with Apple's numbers.
public enum NSMergePolicyType: UInt, Sendable {
  /// The save fails; see `NSErrorMergePolicy`.
  case errorMergePolicyType = 0
  /// By property, the store first; see `NSMergeByPropertyStoreTrumpMergePolicy`.
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  /// By property, the context first; see `NSMergeByPropertyObjectTrumpMergePolicy`.
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  /// The context's objects are saved whole; see `NSOverwriteMergePolicy`.
  case overwriteMergePolicyType = 3
  /// The context's changes are discarded; see `NSRollbackMergePolicy`.
  case rollbackMergePolicyType = 4
}

/// The default policy: a save with conflicts fails with `NSError` 133020 or 133021, and nothing is written. (Apple
/// documentation: NSErrorMergePolicy.)
///
/// ```swift
/// context.mergePolicy = NSErrorMergePolicy
/// do {
///   try context.save()
/// } catch let error as NSError where error.code == NSManagedObjectMergeError {
///   print("Others have changed the same objects: \(error.localizedDescription)")
/// }
/// ```
public var NSErrorMergePolicy: NSMergePolicy { policies[0] }
/// Merges property by property; if both sides changed one, the store's value is kept. (Apple documentation:
/// NSMergeByPropertyStoreTrumpMergePolicy.)
///
/// ```swift
/// container.viewContext.mergePolicy = NSMergeByPropertyStoreTrumpMergePolicy
/// ```
public var NSMergeByPropertyStoreTrumpMergePolicy: NSMergePolicy { policies[1] }
/// Merges property by property; if both sides changed one, the context's value is saved. (Apple documentation:
/// NSMergeByPropertyObjectTrumpMergePolicy.)
///
/// ```swift
/// context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
/// ```
public var NSMergeByPropertyObjectTrumpMergePolicy: NSMergePolicy { policies[2] }
/// Saves every property of an object in conflict as the context has it. (Apple documentation: NSOverwriteMergePolicy.)
///
/// ```swift
/// context.mergePolicy = NSOverwriteMergePolicy
/// try context.save()  // replaces what others have saved in the meantime
/// ```
public var NSOverwriteMergePolicy: NSMergePolicy { policies[3] }
/// Discards the context's changes of objects in conflict. (Apple documentation: NSRollbackMergePolicy.)
///
/// ```swift
/// context.mergePolicy = NSRollbackMergePolicy
/// try context.save()  // objects that others have changed stay as the store has them
/// ```
public var NSRollbackMergePolicy: NSMergePolicy { policies[4] }

/// One of each type, in the order of their numbers.
// Safe: the only property of these objects is a constant; what they change are objects of the context that calls them.
private nonisolated(unsafe) let policies = (0..<5).map { number in
  NSMergePolicy(merge: NSMergePolicyType(rawValue: number) ?? .errorMergePolicyType)
}

extension NSError {
  /// The error policy's error for version conflicts.
  fileprivate static func unresolved(_ conflicts: [NSMergeConflict]) -> NSError {
    .coreData(
      .mergeConflict,
      "\(conflicts.count) objects were changed in the store since they were read; refresh them and save again, or "
        + "give the context a merge policy.", userInfo: [NSPersistentStoreSaveConflictsErrorKey: conflicts])
  }

  fileprivate static func unresolved(_ conflicts: [NSConstraintConflict]) -> NSError {
    .coreData(
      .constraintConflict,
      "\(conflicts.count) times objects have values that must be unique; change them, or give the context a merge "
        + "policy.", userInfo: [NSPersistentStoreSaveConflictsErrorKey: conflicts])
  }
}

extension NSManagedObjectContext {
  /// How a save resolves conflicts with the present state of the store: an `NSMergePolicy`. By default the save fails.
  /// (Apple documentation: mergePolicy.)
  ///
  /// ```swift
  /// context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
  /// try context.save()  // changed values win over those that other contexts have saved
  /// ```
  public var mergePolicy: Any {
    get { chosenMergePolicy ?? NSErrorMergePolicy }
    set { chosenMergePolicy = newValue }
  }
}
