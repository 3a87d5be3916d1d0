import Foundation

/// Stores that Apple's framework wrote, with their models, in `../shared` next to the repository. The variable
/// SURFJOURNAL_SHARED can name another folder. A plain clone has none; tests that need one are enabled by `arePresent`.
package enum SharedFiles {
  package static let folder: URL =
    Setting.text("SURFJOURNAL_SHARED").map { URL(fileURLWithPath: $0, isDirectory: true) }
    ?? Repository.root.deletingLastPathComponent().appendingPathComponent("shared", isDirectory: true)

  package static let stores = folder.appendingPathComponent("stores", isDirectory: true)

  package static var arePresent: Bool { FileManager.default.fileExists(atPath: stores.path) }

  package static let absenceComment = "needs ../shared/stores (or SURFJOURNAL_SHARED), which a plain clone lacks"

  /// The store of Kodeco's SurfJournal app, and the model that it belongs to.
  package static let journal = stores.appendingPathComponent("surfjournal-kodeco", isDirectory: true)
}
