import Foundation
import ManagedObjectModel

/// A model on disk: an `.xcdatamodeld` folder with its versions, or a single `.xcdatamodel`. Every version is read,
/// so that an error in an old one, which a migration will need, is detected at build time.
struct ModelBundle {
  struct Version {
    var name: String
    var xml: String
    var model: NSManagedObjectModel
  }

  var name: String
  /// Sorted by name.
  var versions: [Version]
  var currentVersion: Version

  init(at url: URL) throws {
    name = url.stem
    let isPackage = url.pathExtension == "xcdatamodeld"
    let current = isPackage ? try ModelFile.currentVersion(of: url) : url
    currentVersion = try Version(at: current)
    let others = isPackage ? try ModelFile.versions(of: url).filter { $0.stem != current.stem } : []
    versions = try (others.map(Version.init(at:)) + [currentVersion]).sorted { $0.name < $1.name }
  }
}

extension ModelBundle.Version {
  init(at folder: URL) throws {
    let contents = try ModelFile.contentsFile(at: folder)
    name = folder.stem
    model = try NSManagedObjectModel.load(contentsOf: contents)
    xml = try String(contentsOf: contents, encoding: .utf8)
  }
}

extension URL {
  fileprivate var stem: String { deletingPathExtension().lastPathComponent }
}
