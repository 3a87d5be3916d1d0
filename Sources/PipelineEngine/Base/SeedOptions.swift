import Foundation

/// What an import that makes a seed does in addition; see ``RunOptions/seed``.
public struct SeedOptions: Sendable, Hashable {
  /// Whether the seed is one file in journal mode `delete` instead of three. A store with a WAL can't be opened on
  /// read-only storage, such as an app's bundle: SQLite would have to create the WAL's shared memory there.
  public var isSingleFile = false
  /// The store's UUID; nil for one that is derived from the content.
  public var uuid: UUID?
  /// Whether an existing seed is replaced.
  public var replaces = false

  /// Options of a seed that replaces no file.
  public init() {}
}
