import Foundation

/// One migration by entity mappings: their order, their policies, and what they have made.
final class CustomMigration {
  // Unowned: the manager holds this object as long as it is in use.
  unowned let manager: NSMigrationManager
  let steps: [Step]
  private let byName: [String: Int]
  /// The step that was asked for last: most often that is the next one too.
  private var last: Step?
  /// The object that is linked, in a batch that is linked by keys.
  var linking: Linking?
  /// The related source objects of the batch that is linked, by relationship and source object.
  var relatedSources: [ObjectIdentifier: [ObjectKey: [NSManagedObjectID]]] = [:]

  /// What has to be checked at the end.
  let validation = DeferredValidation()

  let sourceContext: NSManagedObjectContext
  let destinationContext: NSManagedObjectContext
  var destinationStore: (any RowStore)? { destinationContext.persistentStoreCoordinator?.rowStores.first }

  /// - Throws: `NSError` 134140 for entity mappings that do not match the models, 134170 for a policy that is not found.
  init(_ mappings: NSMappingModel, of manager: NSMigrationManager) throws {
    self.manager = manager
    (sourceContext, destinationContext) = (manager.sourceContext, manager.destinationContext)
    let all = mappings.entityMappings
    byName = Dictionary(all.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    guard byName.count == all.count else {
      let twice = Dictionary(grouping: all, by: \.name).filter { $1.count > 1 }.keys.sorted()
      throw NSError.coreData(
        .missingMappingModel,
        "Several entity mappings have the name '\(twice.first ?? "")'. Give each a name of its own: relationships and "
          + "policies ask for them by name.")
    }
    let names = Set(byName.keys)
    steps = try all.map { try Step($0, of: manager, names: names) }
    destinationContext.deferredValidation = validation
  }

  func has(_ mapping: NSEntityMapping) -> Bool { step(mapping) != nil }

  func associations(_ name: String) -> MappingAssociations? {
    if let last, last.name == name { return last.associations }
    return byName[name].map { steps[$0].associations }
  }

  func forgetAssociations() { for step in steps { step.associations.forgetAll() } }

  func instances(ofAnyMapping source: ObjectKey) -> [NSManagedObject] {
    steps.flatMap { $0.associations.destinations(of: source, in: destinationContext) }
  }

  func step(_ mapping: NSEntityMapping) -> Step? {
    if let last, last.mapping === mapping { return last }
    guard let number = byName[mapping.name], steps[number].mapping === mapping else { return nil }
    last = steps[number]
    return last
  }

  /// Saves what is finished, so that it can leave the memory.
  func flush() throws {
    // A policy may have saved already.
    for step in steps { step.associations.noteSavedKeys(in: destinationContext) }
    guard destinationContext.hasChanges else { return }
    let deleted = destinationContext.deletedObjects
    if !deleted.isEmpty { for step in steps { step.associations.forget(deleted) } }
    do {
      try validation.write(to: destinationStore) { try destinationContext.save() }
    } catch let error as NSError where error.code == NSManagedObjectConstraintMergeError {
      throw NSError.coreData(
        .migrationConstraintViolation,
        "Objects of the migrated store have equal values where its model requires unique ones: "
          + error.localizedDescription,
        userInfo: [NSUnderlyingErrorKey: error])
    }
    for step in steps { step.associations.noteSavedKeys(in: destinationContext) }
  }
}
