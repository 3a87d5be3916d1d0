import ManagedObjectModel
import Foundation

/// Finds the model that a store was written with among the models that are available to this program.
///
/// Apple's framework searches the versions that are compiled into the bundle's `.momd`. This search covers, in order:
/// the models that the client passes, the versions next to the file that the wanted model was read from, the embedded
/// models, and the model files among the main bundle's resources.
package struct SourceModelSearch {
  let given: [NSManagedObjectModel]
  /// `.xcdatamodeld` and `.momd` packages, and single models.
  let files: [URL]
  let embedded: [EmbeddedModel]

  package init(given: [NSManagedObjectModel], for model: NSManagedObjectModel) {
    self.given = given
    files = model.sourceFiles.map(ModelFile.package) + ModelFile.resources(of: [.main])
    embedded = EmbeddedModels.all
  }

  package init(bundles: [Bundle]) {
    given = []
    files = ModelFile.resources(of: bundles)
    embedded = bundles.contains(.main) ? EmbeddedModels.all : []
  }

  // MARK: Candidates

  /// A version of a model, read on demand.
  private struct Candidate {
    let name: String
    let load: () throws -> NSManagedObjectModel
  }

  private var candidates: [Candidate] {
    let ofClient = given.enumerated().map { number, model in Candidate(name: "given model \(number + 1)") { model } }
    let ofFiles = files.flatMap { file in
      ((try? ModelFile.versions(at: file)) ?? []).map { version in
        Candidate(name: version.lastPathComponent) { try NSManagedObjectModel.load(contentsOf: version) }
      }
    }
    let ofProgram = embedded.flatMap { model in
      model.versions.map { version in
        Candidate(name: "embedded \(version.name)") { try NSManagedObjectModel.load(xml: Data(version.xml.utf8)) }
      }
    }
    return ofClient + ofFiles + ofProgram
  }

  /// The first model with a configuration that a store with `metadata` was written with, and a list of the examined
  /// models, the result last, with notes about unreadable ones. A model whose hashes are all known takes precedence.
  package func find(
    _ metadata: StoreMetadata, configuration: String?
  ) -> (found: (model: NSManagedObjectModel, configuration: String?)?, lookedAt: [String]) {
    let hashes = metadata.versionHashes
    var lookedAt: [String] = []
    var byNames: (found: (model: NSManagedObjectModel, configuration: String?), name: String)?
    for candidate in candidates {
      guard let model = try? candidate.load() else {
        lookedAt.append("\(candidate.name) (unreadable)")
        continue
      }
      lookedAt.append(candidate.name)
      // A version that predates the configuration kept everything in one store.
      for name in configuration == nil ? [nil] : [configuration, nil] where model.hasConfiguration(name) {
        if ModelCompatibility(hashes, model, configuration: name, exactly: true).isCompatible {
          return ((model, name), lookedAt)
        }
        if byNames == nil, ModelCompatibility(hashes, model, configuration: name).isCompatible {
          byNames = ((model, name), candidate.name)
        }
      }
    }
    return (byNames?.found, lookedAt.filter { $0 != byNames?.name } + [byNames?.name].compactMap(\.self))
  }

  /// The version of that name, without the extension of its file; nil if there is none.
  package func version(named name: String) throws -> NSManagedObjectModel? {
    try candidates.first {
      $0.name == name || $0.name == "\(name).mom" || $0.name == "\(name).xcdatamodel"
        || $0.name == "embedded \(name)"
    }?.load()
  }

  /// Every model that could be read.
  package var models: [NSManagedObjectModel] { candidates.compactMap { try? $0.load() } }
}

extension NSManagedObjectModel {
  fileprivate func hasConfiguration(_ name: String?) -> Bool { entities(forConfigurationName: name) != nil }

  /// The model that a store with `metadata` was written with, from all versions of the models in `bundles` (nil: the
  /// main bundle, and the models embedded in this program); nil if they do not contain it.
  public class func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
  ) -> NSManagedObjectModel? {
    NSManagedObjectModel(
      byMerging: SourceModelSearch(bundles: bundles ?? [.main]).models, forStoreMetadata: metadata)
  }

  /// The model that a store with `metadata` was written with: one of `models`, or the merge of those whose entities are
  /// all in the store with the same version hashes. Nil if these do not account for the whole store.
  public convenience init?(byMerging models: [NSManagedObjectModel]?, forStoreMetadata metadata: [String: Any]) {
    let models = models ?? []
    let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    let whole = models.first { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) }
    let parts = models.filter { ModelCompatibility(stored, $0, configuration: nil).isPart }
    self.init(byMerging: whole.map { [$0] } ?? parts)
    guard isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) else { return nil }
  }
}
