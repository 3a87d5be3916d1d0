import Foundation

/// A model out of a keyed archive, with a sentence about everything that was left out.
package struct CompiledModel {
  package let model: NSManagedObjectModel
  package let notes: [String]
  private let incompleteEntityNames: Set<String>

  /// Reads a `.mom`, or what a store keeps of its model.
  ///
  /// - Throws: `ArchiveProblem` for what is no archive of a model. What is only odd within one becomes a note.
  package init(archive data: Data) throws(ArchiveProblem) {
    var reader = try CompiledModelReader(data)
    model = try reader.read()
    notes = reader.notes
    incompleteEntityNames = reader.incompleteEntityNames
  }

  /// Takes the version hashes that whoever compiled the model stated.
  package func stateVersionHashes(_ hashes: [String: Data]) {
    // An entity's hash is a part of its subentities' hashes.
    for entity in model.entities.sorted(by: { $0.ancestry.count < $1.ancestry.count }) {
      guard entity.ancestry.allSatisfy({ !incompleteEntityNames.contains($0.name ?? "") }) else { continue }
      if let hash = entity.name.flatMap({ hashes[$0] }), hash.count == 32 { entity.stateVersionHash(hash) }
    }
  }
}
