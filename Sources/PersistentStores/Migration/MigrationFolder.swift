import Foundation
import SystemSupport
import ManagedObjectModel

/// A folder next to the destination of a migration, in which the new store is made, so that a rename publishes it. It is
/// removed when this object is released.
package final class MigrationFolder {
  private let folder: URL
  package var file: URL { folder.appendingPathComponent("store.sqlite") }

  /// - Throws: `NSError` 134160 if there is no room for it.
  package init(nextTo destination: URL) throws {
    folder = destination.deletingLastPathComponent()
      .appendingPathComponent(".\(destination.lastPathComponent)-\(UUID().uuidString)", isDirectory: true)
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw NSError.coreData(
        .managerDestinationStore,
        "Nothing can be written next to \(destination.path). Check the path and the permissions of its folder.",
        userInfo: [NSUnderlyingErrorKey: error])
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Gives the finished store its name. The folder of external data is put there first: when the store's file exists, all
  /// of the store exists.
  ///
  /// - Parameter source: The store whose external data the rows of the new one refer to: that in this folder itself, or
  ///   the store that was migrated.
  package func publish(as destination: URL, dataOf source: URL) throws {
    let files = FileManager.default
    do {
      let support = LargeValues.supportFolder(of: source)
      if mayExist(support.path) {
        try files.copyItem(at: support, to: LargeValues.supportFolder(of: destination))
      }
      try files.moveItem(at: file, to: destination)
    } catch {
      throw NSError.coreData(
        .managerDestinationStore,
        "The migrated store can't be put at \(destination.path): \((error as NSError).reason). Check the folder.",
        userInfo: [NSUnderlyingErrorKey: error])
    }
  }
}
