import Foundation
import ManagedObjectModel

extension NSMappingModel {
  /// Reads a mapping model like `init(contentsOf:)`, and throws if it can't be read. An addition of this library.
  ///
  /// ```swift
  /// let mapping = try NSMappingModel.load(contentsOf: file)
  /// ```
  ///
  /// - Parameter url: A compiled `.cdm`, an `.xcmappingmodel` folder, or the `xcmapping.xml` in one.
  /// - Throws: `NSError` 260 for a missing file, 259 for one that can't be read completely, with what to do instead.
  public static func load(contentsOf url: URL) throws -> NSMappingModel {
    NSMappingModel(try MappingFile.load(url))
  }

  /// The mapping model file between two models among the resources of `bundles`, found by the version hashes of their
  /// entities. (Apple documentation: init(from:forSourceModel:destinationModel:).)
  ///
  /// ```swift
  /// let mapping = NSMappingModel(from: [bundle], forSourceModel: old, destinationModel: new)
  /// ```
  ///
  /// - Parameters:
  ///   - bundles: Nil for the main bundle. A compiled file takes precedence over the source of the same name.
  ///   - sourceModel: The version of the store.
  ///   - destinationModel: The version that the store is migrated to.
  /// - Returns: Nil if no readable file leads from one to the other, or a model is nil. A file must have an entity mapping
  ///   to every entity of the destination, and one from every entity that both models have, and their version hashes must
  ///   be known.
  public convenience init?(
    from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
    destinationModel: NSManagedObjectModel?
  ) {
    guard let sourceModel, let destinationModel else { return nil }
    let search = MappingSearch(bundles: bundles ?? [.main], from: sourceModel, to: destinationModel)
    guard let found = search.found else { return nil }
    self.init(found)
  }

  package convenience init(_ mappings: [FileEntityMapping]) {
    self.init()
    entityMappings = mappings.map(NSEntityMapping.init)
  }
}

/// A search for the mapping model file that leads from one version of a model to another.
package struct MappingSearch {
  /// What the first file says that leads there.
  package private(set) var found: [FileEntityMapping]?
  /// The names of the files that were looked at, with the reason for each one that can't be read.
  package private(set) var lookedAt: [String] = []
  package private(set) var hasUnreadable = false

  package init(bundles: [Bundle], from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
    for file in MappingFile.resources(of: bundles) where found == nil {
      do {
        let mappings = try MappingFile.load(file)
        let model = NSMappingModel(mappings)
        guard model.leads(from: source, to: destination), model.covers(source, destination) else {
          lookedAt.append(file.lastPathComponent)
          continue
        }
        // Apple's framework compares the hashes. By their names alone, the file of another version could be taken.
        let unknown = model.entitiesOfUnknownVersion(from: source, to: destination)
        guard unknown.isEmpty else {
          lookedAt.append(
            "\(file.lastPathComponent) (the versions of these entities can't be compared: "
              + "\(unknown.joined(separator: ", ")); give it with OCDMappingModelsOption)")
          hasUnreadable = true
          continue
        }
        found = mappings
      } catch {
        lookedAt.append("\(file.lastPathComponent) (\((error as NSError).localizedDescription))")
        hasUnreadable = true
      }
    }
  }
}

extension NSMappingModel {
  /// Whether no objects would get lost that a mapping of these versions carries over: a file for earlier versions may have
  /// no mapping for an entity that was added since.
  fileprivate func covers(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> Bool {
    let sources = Set(entityMappings.compactMap(\.sourceEntityName))
    let destinations = Set(entityMappings.compactMap(\.destinationEntityName))
    let concrete = destination.entities.filter { !$0.isAbstract }.compactMap(\.name)
    return concrete.allSatisfy { destinations.contains($0) }
      && concrete.allSatisfy { source.entitiesByName[$0]?.isAbstract != false || sources.contains($0) }
  }
}

extension NSEntityMapping {
  fileprivate convenience init(_ file: FileEntityMapping) {
    self.init()
    name = file.name
    mappingType = NSEntityMappingType(rawValue: UInt(file.type)) ?? .undefinedEntityMappingType
    (sourceEntityName, sourceEntityVersionHash) = (file.source?.name, file.source?.versionHash)
    (destinationEntityName, destinationEntityVersionHash) = (file.destination?.name, file.destination?.versionHash)
    sourceExpression = file.sourceExpression
    entityMigrationPolicyClassName = file.policyClassName
    attributeMappings = file.attributes.map(NSPropertyMapping.init)
    relationshipMappings = file.relationships.map(NSPropertyMapping.init)
    userInfo = file.userInfo
  }
}

extension NSPropertyMapping {
  fileprivate convenience init(_ file: FilePropertyMapping) {
    self.init(name: file.name, file.expression)
    userInfo = file.userInfo
  }
}
