import ManagedObjectModel
import Foundation

/// How objects of one model become objects of another. (Apple: NSMappingModel.)
///
/// Only inferred mappings exist. The inference reports everything that an inferred mapping can't do.
///
/// ```swift
/// let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
/// for entity in mapping.entityMappings { print(entity.name) }
/// ```
open class NSMappingModel: NSObject {
  /// One for each entity of both models: those of the destination by name, then the removed ones by name.
  public let entityMappings: [NSEntityMapping]

  /// Retained, as entities reference their model weakly.
  let sourceModel: NSManagedObjectModel
  let destinationModel: NSManagedObjectModel
  let match: ModelMatch

  init(_ match: ModelMatch, from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
    self.match = match
    sourceModel = source
    destinationModel = destination
    func byName(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
      entities.sorted { String.byteOrder($0.name ?? "", $1.name ?? "") }
    }
    let kept = byName(destination.entities).map {
      NSEntityMapping(source: match.source(of: $0), destination: $0, match: match.properties(of: $0))
    }
    let removed = byName(source.entities).filter { match.destination(of: $0) == nil }.map {
      NSEntityMapping(source: $0, destination: nil, match: PropertyMatch())
    }
    entityMappings = kept + removed
  }

  /// The mapping model file between two models among the resources of `bundles`. Always nil, as mapping model files
  /// can't be compiled on this platform.
  public convenience init?(
    from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
    destinationModel: NSManagedObjectModel?
  ) {
    return nil
  }

  /// Infers how `sourceModel` became `destinationModel`, from names and renaming identifiers.
  ///
  /// - Throws: `NSError` 134190 with every reason why inference fails, each also under `NSDetailedErrorsKey`.
  open class func inferredMappingModel(
    forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
  ) throws -> NSMappingModel {
    let inference = MappingInference(from: sourceModel, to: destinationModel)
    guard inference.problems.isEmpty else { throw MappingProblem.error(inference.problems) }
    return NSMappingModel(inference.match, from: sourceModel, to: destinationModel)
  }

  open var entityMappingsByName: [String: NSEntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}
