import Foundation

/// A model out of a keyed archive, with a sentence about everything that was left out.
struct CompiledModel {
  let model: NSManagedObjectModel
  let notes: [String]

  /// Reads a `.mom`, or what a store keeps of its model.
  ///
  /// - Throws: `ArchiveProblem` for what is no archive of a model. What is only odd within one becomes a note.
  init(archive data: Data) throws(ArchiveProblem) {
    var reader = try CompiledModelReader(data)
    model = try reader.read()
    notes = reader.notes
  }
}

extension NSManagedObjectModel {
  /// Takes the version hashes that whoever compiled this model stated.
  func stateVersionHashes(_ hashes: [String: Data]) {
    for entity in entities.sorted(by: { $0.ancestry.count < $1.ancestry.count }) {
      if let hash = entity.name.flatMap({ hashes[$0] }), hash.count == 32 { entity.stateVersionHash(hash) }
    }
  }
}
