import Foundation

/// Rows that were read by their keys a moment ago: the contexts of a chain ask for the same ones, one after the other.
///
/// They are of one version of the database, and are shown only while it still is at that one.
struct RecentRows {
  private var rows: [ObjectKey: FetchedRow] = [:]
  private var version: UInt32?

  /// Enough for the faults of some chunks; with the bound on a row's length about 4 MB at most.
  private static let rowsMax = 4096
  private static let bytesPerRowMax = 1024

  /// The rows of `keys`, if all of them are here and still as the database has them.
  mutating func rows(for keys: [ObjectKey], _ connection: SQLiteConnection) throws -> [FetchedRow]? {
    if rows.isEmpty || keys.isEmpty { return nil }
    var known: [FetchedRow] = []
    known.reserveCapacity(keys.count)
    for key in keys {
      guard let row = rows[key] else { return nil }
      known.append(row)
    }
    try connection.lookForCommits()
    return connection.versionSeen == version ? known : nil
  }

  /// Keeps rows that were read at `version`, the long ones excepted.
  mutating func keep(_ read: [ObjectKey: FetchedRow], of version: UInt32) {
    if version != self.version || rows.count + read.count > Self.rowsMax { rows.removeAll(keepingCapacity: true) }
    self.version = version
    guard read.count <= Self.rowsMax else { return }
    for (key, row) in read where row.values.totalBytes <= Self.bytesPerRowMax { rows[key] = row }
  }
}

extension [StoredValue] {
  /// What the values hold on the heap, about.
  fileprivate var totalBytes: Int {
    reduce(0) { sum, value in
      switch value {
      case .text(let text): sum + text.utf8.count
      case .blob(let data): sum + data.count
      case .null, .integer, .real, .decimal: sum
      }
    }
  }
}
