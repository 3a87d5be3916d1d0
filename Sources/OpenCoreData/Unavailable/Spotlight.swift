import Foundation

// What of Core Data needs Core Spotlight.

/// Keeps an index of Core Spotlight up to date with a store.
@available(*, unavailable, message: "Core Spotlight is not on Linux. Feed an index from the persistent history.")
open class NSCoreDataCoreSpotlightDelegate: NSObject {}

/// The option with the delegate for Core Spotlight.
@available(*, unavailable, message: "Core Spotlight is not on Linux. Feed an index from the persistent history.")
public let NSCoreDataCoreSpotlightExporter = "NSCoreDataCoreSpotlightExporter"

extension NSNotification.Name {
  /// Posted when an index of Core Spotlight was changed.
  @available(*, unavailable, message: "Core Spotlight is not on Linux. Feed an index from the persistent history.")
  public static var NSCoreDataCoreSpotlightDelegateIndexDidUpdate: NSNotification.Name { Self("") }
}

extension NSPersistentStore {
  /// The delegate for Core Spotlight.
  @available(*, unavailable, message: "Core Spotlight is not on Linux. Feed an index from the persistent history.")
  public var coreSpotlightExporter: NSObject? { nil }
}

extension NSEntityDescription {
  /// What Core Spotlight shows of an object.
  @available(*, unavailable, message: "Core Spotlight is not on Linux. Feed an index from the persistent history.")
  public var coreSpotlightDisplayNameExpression: NSExpression? { nil }
}
