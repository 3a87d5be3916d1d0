import Foundation

/// A version of a model that a stage of a migration needs: loaded when it is needed, and then compared with the checksum
/// that it had when the stage was written. (Apple documentation: NSManagedObjectModelReference.)
///
/// ```swift
/// let first = NSManagedObjectModelReference(model: old, versionChecksum: old.versionChecksum)
/// print(first.resolvedModel === old)
/// ```
open class NSManagedObjectModelReference: NSObject {
  /// The base64 text that `NSManagedObjectModel.versionChecksum` has.
  public let versionChecksum: String
  private let load: () throws -> NSManagedObjectModel?
  private let source: String

  private init(checksum: String, source: String, _ load: @escaping () throws -> NSManagedObjectModel?) {
    (versionChecksum, self.source, self.load) = (checksum, source, load)
  }

  /// A model that is loaded already.
  public convenience init(model: NSManagedObjectModel, versionChecksum: String) {
    self.init(checksum: versionChecksum, source: "the given model") { model }
  }

  /// A model file.
  public convenience init(fileURL: URL, versionChecksum: String) {
    self.init(checksum: versionChecksum, source: fileURL.path) { try NSManagedObjectModel.load(contentsOf: fileURL) }
  }

  /// The version among the models of a bundle (nil: the main bundle, and the models embedded in this program) whose
  /// entities have these hashes.
  public convenience init(entityVersionHashes: [String: Data], in bundle: Bundle?, versionChecksum: String) {
    self.init(checksum: versionChecksum, source: "a version with these entity hashes") {
      SourceModelSearch(bundles: [bundle ?? .main]).models.first { $0.entityVersionHashesByName == entityVersionHashes }
    }
  }

  /// The version of that name among the models of a bundle (nil: the main bundle, and the models embedded in this program).
  public convenience init(name: String, in bundle: Bundle?, versionChecksum: String) {
    self.init(checksum: versionChecksum, source: "the version \(name)") {
      try SourceModelSearch(bundles: [bundle ?? .main]).version(named: name)
    }
  }

  /// The model; stops the program if there is none, or if it has another checksum, as Apple's framework does.
  open var resolvedModel: NSManagedObjectModel {
    do {
      return try resolve()
    } catch {
      // Apple's property can't throw; migrations use `resolve()`, which does.
      preconditionFailure((error as NSError).localizedDescription)
    }
  }

  /// - Throws: `NSError` 134504 for a model that is not found or not the one that the checksum is of.
  func resolve() throws -> NSManagedObjectModel {
    guard let model = try load() else {
      throw NSError.coreData(
        .modelReferenceNotFound, "A stage of the migration has no model: \(source) was not found.")
    }
    guard model.versionChecksum == versionChecksum else {
      throw NSError.coreData(
        .modelReferenceNotFound,
        "A model of a stage of the migration has changed: \(source) has the checksum \(model.versionChecksum), and the "
          + "stage was written for \(versionChecksum).")
    }
    return model
  }
}
