import OpenCoreData

/// The parts of a plan, in the order of their import: each fills one entity. A part begins when those are complete that fill
/// or create what its records lead to.
struct PlanParts {
  private(set) var parts: [ImportPart]

  /// - Parameter isOfWorker: Whether what records lead to is looked up where workers share it.
  init(_ run: ImportRun, isOfWorker: Bool) {
    parts = run.parts
    for index in parts.indices {
      let environment = parts[index].environment
      parts[index].environment.keys.areShared = !environment.definition.key.isEmpty
      parts[index].environment.sharesLinks = isOfWorker && !environment.links.isEmpty
      parts[index].environment.rejectsNames = parts[0].environment.rejectsNames
    }
  }

  var count: Int { parts.count }

  subscript(index: Int) -> ImportPart { parts[index] }

  /// Distinguishes the ways in which programs read the pipeline.
  var digest: String { parts.map(\.environment.digest.hex).joined(separator: " ") }

  /// The part of an input.
  func index(of input: LedgerEntry) -> Int {
    parts.firstIndex { $0.environment.digest == input.pipelineDigest } ?? 0
  }

  /// The parts that have to be complete before one begins.
  func before(_ index: Int) -> [Int] {
    (0..<index).filter { !parts[$0].environment.rootNames.isDisjoint(with: parts[index].environment.rootNames) }
  }

  mutating func setTurn(_ takeTurn: @escaping @Sendable (SaveTransaction) throws -> Void) {
    for index in parts.indices { parts[index].environment.takeTurn = takeTurn }
  }
}

extension ImportEnvironment {
  /// The names of the root entities of its entries, and of what they lead to.
  fileprivate var rootNames: Set<String> {
    let related = links.compactMap { $0.relationship.destinationEntity?.rootEntity.name }
    return Set(related + [store.entity.rootEntity.name ?? ""])
  }
}
