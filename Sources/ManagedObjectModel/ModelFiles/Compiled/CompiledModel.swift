import Foundation

/// A model from a keyed archive, with one sentence about each omitted part.
package struct CompiledModel {
  package let model: NSManagedObjectModel
  package let notes: [String]
  private let incompleteEntityNames: Set<String>

  /// Reads a `.mom`, or the model that a store contains.
  ///
  /// - Throws: `ArchiveProblem` if the data is not an archive of a model. Minor problems become notes.
  package init(archive data: Data) throws(ArchiveProblem) {
    var reader = try CompiledModelReader(data)
    model = try reader.read()
    notes = reader.notes
    incompleteEntityNames = reader.incompleteEntityNames
  }

  /// Adopts the version hashes that the model's compiler stated.
  package func stateVersionHashes(_ hashes: [String: Data]) {
    // The hash of a subentity includes the hash of its superentity.
    for entity in model.entities.sorted(by: { $0.ancestry.count < $1.ancestry.count }) {
      guard entity.ancestry.allSatisfy({ !incompleteEntityNames.contains($0.name ?? "") }) else { continue }
      if let hash = entity.name.flatMap({ hashes[$0] }), hash.count == 32 { entity.stateVersionHash(hash) }
    }
  }
}
