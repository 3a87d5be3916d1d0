import Foundation
import Locking

/// A fetch request as a model keeps it.
package protocol ModelFetchRequest: AnyObject {
  /// A copy for another model, with the entity of the same name there.
  func copy(for model: NSManagedObjectModel) -> any ModelFetchRequest
}

/// A schema: entities and their properties (Apple: NSManagedObjectModel).
///
/// Mutable until a coordinator uses it; changing it afterwards stops the program with "Can't modify an
/// immutable model.". A copy of a model in use is mutable again.
// Unchecked: see `Seal`.
open class NSManagedObjectModel: NSObject, NSCopying, @unchecked Sendable {
  package let seal = Seal()
  private let freezing = Locked(())
  private var frozenEntitiesByName: [String: NSEntityDescription]?

  public override init() {
    super.init()
  }

  /// All entities, subentities included.
  open var entities: [NSEntityDescription] = [] {
    willSet { seal.requireOpen() }
    didSet {
      for entity in oldValue where entity.model === self { entity.model = nil }
      for entity in entities { entity.model = self }
    }
  }

  open var entitiesByName: [String: NSEntityDescription] {
    if seal.isClosed, let frozenEntitiesByName { return frozenEntitiesByName }
    return Dictionary(
      entities.compactMap { entity in entity.name.map { ($0, entity) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// Names the developer gives to a version of the model (the editor's "Model Version Identifier").
  open var versionIdentifiers: Set<AnyHashable> = [] { willSet { seal.requireOpen() } }

  /// The `contents` files that the model was read from: migration looks for other versions beside them.
  package internal(set) var sourceFiles: [URL] = [] { willSet { seal.requireOpen() } }

  /// Names of entities by configuration name: names, so that copies and merged models need no repair.
  package var entityNamesByConfiguration: [String: [String]] = [:] { willSet { seal.requireOpen() } }

  /// The fetch requests that the model file declares, by name.
  package var fetchRequestTemplates: [String: FetchRequestTemplate] = [:] { willSet { seal.requireOpen() } }

  /// The fetch requests that were set in code, by name. Nobody else has them: they are copied on their way in and out.
  package var fetchRequestsSet: [String: any ModelFetchRequest] = [:] { willSet { seal.requireOpen() } }

  /// The names of all configurations, sorted.
  open var configurations: [String] { entityNamesByConfiguration.keys.sorted(by: String.byteOrder) }

  /// The entities of a configuration; all entities for nil and for the name of the default configuration; nil
  /// if there is no such configuration.
  open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
    guard let configuration, configuration != Self.defaultConfigurationName else { return entities }
    guard let names = entityNamesByConfiguration[configuration] else { return nil }
    let byName = entitiesByName
    return names.compactMap { byName[$0] }
  }

  /// Makes `entities`, which must be in this model, the members of a configuration.
  open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
    for entity in entities {
      precondition(
        self.entities.contains { $0 === entity },
        "The entity '\(entity.name ?? "")' is not in this model; add it to `entities` before a configuration."
      )
    }
    entityNamesByConfiguration[configuration] = entities.compactMap(\.name)
  }

  /// What Core Data calls the configuration of all entities.
  package static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

  /// A deep, mutable copy.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSManagedObjectModel()
    copy.takeCopies(of: entities)
    copy.versionIdentifiers = versionIdentifiers
    copy.sourceFiles = sourceFiles
    copy.entityNamesByConfiguration = entityNamesByConfiguration
    copy.fetchRequestTemplates = fetchRequestTemplates
    copy.takeRequests(of: self)
    return copy
  }

  /// Takes copies of the requests set in `other`, whose entities are named alike; a name that is taken stays.
  package func takeRequests(of other: NSManagedObjectModel) {
    for (name, request) in other.fetchRequestsSet where fetchRequestsSet[name] == nil {
      fetchRequestsSet[name] = request.copy(for: self)
    }
  }

  /// Fixes the model for ever and fills its caches. Called by the coordinator before it shares the model with
  /// any queue; calling it again, from any thread, does nothing.
  package func freeze() {
    freezing.withLock { _ in
      guard !seal.isClosed else { return }
      // Superentities first: a subentity's hash and layout are built from theirs.
      for entity in entities {
        for ancestor in entity.ancestry.reversed() { ancestor.freeze() }
      }
      frozenEntitiesByName = entitiesByName
      seal.close()
    }
  }

  /// Whether a coordinator uses this model. Tests read it.
  var isFrozen: Bool { seal.isClosed }
}
