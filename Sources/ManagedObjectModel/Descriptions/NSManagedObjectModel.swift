import Foundation
import SystemSupport

/// A fetch request that a model stores.
package protocol ModelFetchRequest: AnyObject {
  /// A copy for another model, with that model's entity of the same name.
  func copy(for model: NSManagedObjectModel) -> any ModelFetchRequest
  /// Whether both find the same objects in the same order.
  func describesTheSame(as other: any ModelFetchRequest) -> Bool
}

/// A schema: entities and their properties (Apple: NSManagedObjectModel).
///
/// Read a model from a file with ``init(contentsOf:)`` or ``load(contentsOf:)``, or build it in code:
///
/// ```swift
/// let session = NSEntityDescription()
/// session.name = "Session"
/// let model = NSManagedObjectModel()
/// model.entities = [session]
/// let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
/// ```
///
/// Mutable until a coordinator uses it. A change afterwards stops the program with "Can't modify an immutable model.".
/// A copy of a frozen model is mutable again.
// Unchecked: see `FreezeFlag`.
open class NSManagedObjectModel: NSObject, NSCopying, @unchecked Sendable {
  package let freezeFlag = FreezeFlag()
  private let freezing = Locked(())
  private var frozenEntitiesByName: [String: NSEntityDescription]?

  public override init() {
    super.init()
  }

  /// All entities, subentities included.
  open var entities: [NSEntityDescription] = [] {
    willSet { freezeFlag.requireMutable() }
    didSet {
      for entity in oldValue where entity.model === self { entity.model = nil }
      for entity in entities { entity.model = self }
    }
  }

  /// The entities by name. (Apple documentation: entitiesByName.)
  open var entitiesByName: [String: NSEntityDescription] {
    if freezeFlag.isFrozen, let frozenEntitiesByName { return frozenEntitiesByName }
    return Dictionary(
      entities.compactMap { entity in entity.name.map { ($0, entity) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// Names that the developer gives to a version of the model (the editor's "Model Version Identifier").
  open var versionIdentifiers: Set<AnyHashable> = [] { willSet { freezeFlag.requireMutable() } }

  /// The `contents` files that the model was read from. Migration looks for other versions next to them.
  package internal(set) var sourceFiles: [URL] = [] { willSet { freezeFlag.requireMutable() } }

  /// Names of entities by configuration name. Names rather than entities, so that copied and merged models need no
  /// fix-up.
  package var entityNamesByConfiguration: [String: [String]] = [:] { willSet { freezeFlag.requireMutable() } }

  /// The fetch requests that the model file declares, by name.
  package var fetchRequestTemplates: [String: FetchRequestTemplate] = [:] { willSet { freezeFlag.requireMutable() } }

  /// The fetch requests that were set in code, by name. The model owns them: they are copied when they are set and when
  /// they are read.
  package var fetchRequestsSet: [String: any ModelFetchRequest] = [:] { willSet { freezeFlag.requireMutable() } }

  /// The names of all configurations, sorted.
  open var configurations: [String] { entityNamesByConfiguration.keys.sorted(by: String.byteOrder) }

  /// The entities of a configuration; all entities for nil and for the name of the default configuration; nil if the
  /// configuration does not exist.
  open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
    guard let configuration, configuration != Self.defaultConfigurationName else { return entities }
    guard let names = entityNamesByConfiguration[configuration] else { return nil }
    let byName = entitiesByName
    return names.compactMap { byName[$0] }
  }

  /// Makes `entities`, which must belong to this model, the members of a configuration.
  open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
    for entity in entities {
      precondition(
        self.entities.contains { $0 === entity },
        "The entity '\(entity.name ?? "")' is not in this model; add it to `entities` before a configuration."
      )
    }
    entityNamesByConfiguration[configuration] = entities.compactMap(\.name)
  }

  /// Core Data's name for the configuration of all entities.
  package static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

  // By contents (DescriptionEquality.swift).
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSManagedObjectModel).map(describesTheSame) ?? false
  }
  open override var hash: Int { entities.count }

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

  /// Adds copies of the requests set in `other`, which must have entities of the same names. Existing names keep their
  /// request.
  package func takeRequests(of other: NSManagedObjectModel) {
    for (name, request) in other.fetchRequestsSet where fetchRequestsSet[name] == nil {
      fetchRequestsSet[name] = request.copy(for: self)
    }
  }

  /// Freezes the model permanently and fills its caches. The coordinator calls this before it shares the model with a
  /// queue. Further calls, from any thread, have no effect.
  package func freeze() {
    freezing.withLock { _ in
      guard !freezeFlag.isFrozen else { return }
      // Superentities first: a subentity's hash and layout include theirs.
      for entity in entities {
        for ancestor in entity.ancestry.reversed() { ancestor.freeze() }
      }
      frozenEntitiesByName = entitiesByName
      freezeFlag.set()
    }
  }

  /// Whether a coordinator uses this model. Tests read it.
  package var isFrozen: Bool { freezeFlag.isFrozen }
}
