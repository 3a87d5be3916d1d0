import Foundation

/// The files of external values that the open transaction writes, and those that it or earlier ones have released. The
/// owner of the writing connection uses it.
final class ExternalFiles {
  /// A value in a file that a row had when a statement changed or deleted the row.
  struct Released {
    let table: String
    let column: String
    let key: Int64
    /// The content of the column.
    let bytes: Data
  }

  /// Nil for a store in memory, and before the store watches its connection.
  var folder: ExternalFolder?
  /// Whether large values are written to files.
  var writesFiles = true
  private(set) var released: [Released] = []
  /// Whether rows may be left out without an error: then their files are candidates for removal.
  var mayLeaveRowsOut = false
  private var written: [String] = []

  // MARK: In a transaction

  /// Writes a value for a row to a new file.
  ///
  /// - Returns: The content of the column; nil if the value must be in the row.
  func write(
    _ value: UnsafeRawBufferPointer, of row: (key: Int64, table: String, column: String)
  ) throws(POSIXError) -> Data? {
    guard let folder, writesFiles, value.count > ExternalData.inlineBytesMax else { return nil }
    let name = try folder.makeFile(with: value)
    written.append(name)
    let bytes = ExternalData.column(forFile: name)
    if mayLeaveRowsOut {
      released.append(Released(table: row.table, column: row.column, key: row.key, bytes: bytes))
    }
    return bytes
  }

  func release(_ value: Released) {
    if let name = ExternalData.name(in: value.bytes) { folder?.mark(released: name) }
    released.append(value)
  }

  /// The number of files written so far, for `discard(from:)`.
  var position: Int { written.count }

  // MARK: The end of a transaction

  /// Called before the commit: from here on the names of the written files are on the disk.
  func sync() throws(POSIXError) {
    if !written.isEmpty { try folder?.sync() }
  }

  /// Called after the commit: rows refer to the files, except for those of rows that were left out.
  func keep() {
    let uncertain = Set(released.compactMap { ExternalData.name(in: $0.bytes) })
    for name in written where !uncertain.contains(name) { folder?.unmark(name) }
    written = []
  }

  /// Called after a commit that failed: what is in the WAL may still count once the WAL is read again. The next opening
  /// keeps or removes all files by their marks.
  func leaveUncertain() {
    written = []
    released = []
  }

  /// Called after a rollback to `position`.
  func discard(from position: Int = 0) {
    guard position < written.count else { return }
    for name in written[position...] { folder?.remove(name) }
    written.removeSubrange(position...)
  }

  /// Removes the released files, except for those that a row still has: its release was rolled back.
  ///
  /// - Parameter isInUse: Whether a row has the value; nil if that can't be found out, which leaves file and mark.
  func removeReleased(unless isInUse: (Released) -> Bool?) {
    for value in released {
      guard let name = ExternalData.name(in: value.bytes), let isInUse = isInUse(value) else { continue }
      if isInUse { folder?.unmark(name) } else { folder?.remove(name) }
    }
    released = []
  }
}
