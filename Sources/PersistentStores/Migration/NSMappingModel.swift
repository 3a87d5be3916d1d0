import ManagedObjectModel
import Foundation

/// How objects of one model become objects of another. (Apple documentation: NSMappingModel.)
///
/// It is inferred from two models, read from a file, or made in code of entity mappings, which a migration carries out in
/// their order.
///
/// ```swift
/// let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
/// for entity in mapping.entityMappings { print(entity.name) }
/// ```
open class NSMappingModel: NSObject {
  /// An inferred mapping model has one for each entity of both models: those of the destination by name, then the removed
  /// ones by name.
  open var entityMappings: [NSEntityMapping] = []

  /// What was inferred; nil for a mapping model that was made in code.
  private let inference: InferredMapping?
  /// The entity mappings that were made of it.
  private let inferredMappings: [ObjectIdentifier]

  /// A mapping model without entity mappings.
  public override init() {
    inference = nil
    inferredMappings = []
  }

  /// Reads a mapping model from a file. (Apple documentation: init(contentsOf:).)
  ///
  /// ```swift
  /// if let mapping = NSMappingModel(contentsOf: file) { print(mapping.entityMappings.count) }
  /// ```
  ///
  /// - Parameter url: A compiled `.cdm`, an `.xcmappingmodel` folder, or the `xcmapping.xml` in one.
  /// - Returns: Nil if it can't be read; ``load(contentsOf:)`` throws the reason.
  public convenience init?(contentsOf url: URL?) {
    guard let url, let mappings = try? MappingFile.load(url) else { return nil }
    self.init(mappings)
  }

  private init(_ inference: InferredMapping) {
    let match = inference.match
    func byName(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
      entities.sorted { String.byteOrder($0.name ?? "", $1.name ?? "") }
    }
    let kept = byName(inference.destinationModel.entities).map {
      NSEntityMapping(source: match.source(of: $0), destination: $0, match: match.properties(of: $0))
    }
    let removed = byName(inference.sourceModel.entities).filter { match.destination(of: $0) == nil }.map {
      NSEntityMapping(source: $0, destination: nil, match: PropertyMatch())
    }
    self.inference = inference
    inferredMappings = (kept + removed).map(ObjectIdentifier.init)
    entityMappings = kept + removed
  }

  /// Infers how `sourceModel` became `destinationModel`, from names and renaming identifiers.
  ///
  /// - Throws: `NSError` 134190 with every reason why inference fails, each also under `NSDetailedErrorsKey`.
  open class func inferredMappingModel(
    forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
  ) throws -> NSMappingModel {
    NSMappingModel(try InferredMapping(from: sourceModel, to: destinationModel))
  }

  /// The entity mappings by name. Of several with one name, the first.
  open var entityMappingsByName: [String: NSEntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The entities whose version hash can't be compared with that of the entity mapping, because one of the two is not
  /// known.
  package func entitiesOfUnknownVersion(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> [String] {
    func unknown(_ name: String?, _ hash: Data?, in model: NSManagedObjectModel) -> String? {
      guard let name, let entity = model.entitiesByName[name] else { return nil }
      return hash == entity.versionHash || hash != nil && entity.hasExactVersionHash ? nil : name
    }
    let names = entityMappings.flatMap { mapping in
      [
        unknown(mapping.sourceEntityName, mapping.sourceEntityVersionHash, in: source),
        unknown(mapping.destinationEntityName, mapping.destinationEntityVersionHash, in: destination),
      ]
    }
    return Set(names.compactMap(\.self)).sorted()
  }

  /// Whether all its entity mappings are of entities of these models, in these versions. An empty one leads nowhere.
  package func leads(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> Bool {
    func has(_ name: String?, _ hash: Data?, in model: NSManagedObjectModel) -> Bool {
      guard let name else { return true }
      guard let entity = model.entitiesByName[name] else { return false }
      return hash == nil || hash == entity.versionHash || !entity.hasExactVersionHash
    }
    return !entityMappings.isEmpty && !isInferred(forOthersThan: source, destination)
      && entityMappings.allSatisfy { mapping in
        has(mapping.sourceEntityName, mapping.sourceEntityVersionHash, in: source)
          && has(mapping.destinationEntityName, mapping.destinationEntityVersionHash, in: destination)
      }
  }

  /// What SQL can carry out: the result of the inference, as long as the client has not changed it.
  var inferred: InferredMapping? {
    let isUnchanged =
      entityMappings.map(ObjectIdentifier.init) == inferredMappings && !entityMappings.contains(where: \.isModified)
    return isUnchanged ? inference : nil
  }

  /// Whether it was inferred for these models and is unchanged.
  package func isInferred(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> Bool {
    inferred.map { $0.sourceModel === source && $0.destinationModel === destination } ?? false
  }

  /// Whether it was inferred for other models than these, which may lack what it names.
  package func isInferred(forOthersThan source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> Bool {
    inference.map { $0.sourceModel !== source || $0.destinationModel !== destination } ?? false
  }
}
