import Foundation
import SystemSupport

extension EmbeddedModel {
  /// The model of a version, frozen. It is read once: every caller gets the same instance.
  package func model(of version: Version) throws -> NSManagedObjectModel {
    let source = ReadModels.Source(xml: version.xml, moduleName: moduleName)
    return try ReadModels.models.withLock { known in
      if let model = known[source] { return model }
      let model = try NSManagedObjectModel.load(xml: Data(version.xml.utf8), module: moduleName)
      model.freeze()
      known[source] = model
      return model
    }
  }
}

/// The models of versions that this process has read.
private enum ReadModels {
  struct Source: Hashable {
    let xml: String
    let moduleName: String
  }

  static let models = Locked<[Source: NSManagedObjectModel]>([:])
}
