import Foundation

/// Which edition of each row of an incremental store the contexts have.
///
/// Contexts count a row's version up by one with each save. A store's own versions may be counted otherwise, so they
/// are compared only with the version that the same row had before: a version that is not the last one that was read
/// is a new edition, unless it is what the coordinator's own save has made.
struct RowEditions {
  private struct Known {
    /// What contexts hold as the row's version.
    var edition: Int64
    /// The store's version of that edition; nil after a save, until the row is read.
    var version: UInt64?
    /// Before that save.
    var versionBefore: UInt64?
    /// The hash of the values that were saved.
    var savedHash: Int?
  }

  private var rows: [ObjectKey: Known] = [:]

  /// The edition of a row that was read just now.
  mutating func edition(of key: ObjectKey, version: UInt64, values: [StoredValue]) -> Int64 {
    guard var known = rows[key] else {
      let edition = Int64(clamping: version)
      rows[key] = Known(edition: edition, version: version)
      return edition
    }
    if let last = known.version {
      if last != version { known.edition = Self.edition(after: known.edition, version) }
    } else {
      let before = known.versionBefore ?? 0
      let isOwn = version == before || version == before &+ 1 || known.savedHash == Self.hash(values)
      if !isOwn { known.edition = Self.edition(after: known.edition, version) }
    }
    rows[key] = Known(edition: known.edition, version: version)
    return known.edition
  }

  /// The edition that was read or saved last; nil for a row that never was.
  func last(_ key: ObjectKey) -> Int64? { rows[key]?.edition }

  /// Notes that a save has written the row, which contexts now hold as `edition`.
  mutating func noteSaved(_ key: ObjectKey, edition: Int64, values: [StoredValue], isNew: Bool) {
    let before = isNew ? nil : rows[key]?.version ?? rows[key]?.versionBefore.map { $0 &+ 1 }
    rows[key] = Known(edition: edition, version: nil, versionBefore: before, savedHash: Self.hash(values))
  }

  mutating func forget(_ key: ObjectKey) { rows[key] = nil }

  private static func edition(after edition: Int64, _ version: UInt64) -> Int64 {
    max(edition + 1, Int64(clamping: version))
  }

  private static func hash(_ values: [StoredValue]) -> Int {
    var hasher = Hasher()
    hasher.combine(values)
    return hasher.finalize()
  }
}
