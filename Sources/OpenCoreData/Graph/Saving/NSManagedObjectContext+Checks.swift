import ManagedObjectModel

/// The checks of what a save would save.
extension NSManagedObjectContext {
  /// Validates pending insertions by the rules of the model and of the objects' classes, as a save would, without
  /// saving.
  ///
  /// - Throws: A validation error for every object that is invalid.
  package func validateInsertions() throws {
    processPendingChanges()
    try checkForSave(updatesToo: false)
  }

  /// Validates everything that is pending, at both ends of changed relationships, as a save would, without saving.
  ///
  /// - Throws: The errors of `save()` for objects that are invalid.
  package func validateChanges() throws {
    processPendingChanges()
    try checkForSave(updatesToo: true)
  }

  /// Checks the rules of the model and of the objects' classes for everything that is pending.
  func checkForSave(updatesToo: Bool) throws {
    if let deferredValidation { return deferredValidation.note(graph) }
    var failures: [(id: NSManagedObjectID, error: any Error)] = []
    func check(_ object: NSManagedObject, _ validate: (NSManagedObject) throws -> Void) {
      do {
        try validate(object)
      } catch {
        failures.append((object.objectID, error))
      }
    }
    for segment in graph.insertions.segments {
      if segment.batch.entity.objectClass.lifecycleHooks.contains(.validation) {
        for object in graph.handles(in: segment) { check(object) { try $0.validateForInsert() } }
      } else if !segment.isValidated {
        // The rules are checked in the packed values.
        segment.pack()
        let rows = segment.invalidRows(
          toleratingMissingRelationships: toleratesMissingRelationships, graph.insertions.deferredLinks)
        for row in rows { check(graph.handle(in: segment, row: row)) { try $0.validateForInsert() } }
      }
    }
    if updatesToo {
      var rules = hasDeletionRules
      let deleted = graph.deletions.filter { rules.holds($0.value) }.inOrder
      try readDeniedEnds(of: deleted)
      for object in graph.updates.inOrder { check(object) { try $0.validateForUpdate() } }
      for object in deleted { check(object) { try $0.validateForDelete() } }
    }
    validationFailures = failures
    if let error = NSError.validation(failures.map(\.error), of: failures.map(\.id)) { throw error }
  }

  /// Whether a deletion has rules, of the model or of its class.
  private var hasDeletionRules: KindTest {
    KindTest { !$0.entity.denyingRelationships.isEmpty || type(of: $0).lifecycleHooks.contains(.validation) }
  }
}
