import Foundation

/// What an import that makes a seed does besides: see ``RunOptions/seed``.
public struct SeedOptions: Sendable, Hashable {
  /// Whether the seed is one file in the journal mode delete instead of three. A store with a log can't be opened where
  /// nothing may be written, as in an app's bundle: SQLite would have to make the log's shared memory there.
  public var isSingleFile = false
  /// The store's UUID; nil for one that is made from the content.
  public var uuid: UUID?
  /// Whether a seed that is there already is replaced.
  public var replaces = false

  public init() {}
}
