import OpenCoreData

/// What can't be imported by many workers at once, with the reason.
enum PlanRefusal {
  static func check(_ run: ImportRun) throws(PipelineError) {
    guard run.parts.count == 1, let part = run.parts.first else {
      throw refused("parts", "it fills several entities, one after the other; plan the import of each with --entity")
    }
    let (definition, environment) = (part.environment.definition, part.environment)
    if run.definition.atomic || definition.atomic {
      throw refused(
        "atomic", "the transactions of several workers are not one; take \"atomic\" out, or import with 'import'")
    }
    if environment.changedInputs != .refuse {
      throw refused(
        "changedInputs",
        "what an input replaces, or has new, is known only when it is read from its start to its end; "
          + "import it with 'import'")
    }
    if part.inbox != nil { throw refused("inbox", "its files are moved by one run; name the files to plan instead") }
    if !environment.links.isEmpty {
      throw refused(
        definition.columnPath(environment.links[0].columns[0]),
        "several workers would look up and create the same related objects at the same time; import it with 'import'")
    }
    if !definition.key.isEmpty {
      throw refused(
        "key", "the keys of all records have to be compared, and a worker sees its own; import it with 'import'")
    }
    if let index = definition.columns.firstIndex(where: { $0.rules.contains { $0.kind == .unique } }) {
      throw refused(
        definition.columnPath(index),
        "the rule 'unique' compares all records, and a worker sees its own; import it "
          + "with 'import'")
    }
    if !environment.store.entity.uniquenessConstraintNames.isEmpty {
      throw refused(
        "entity",
        "the model has a uniqueness constraint for \(definition.entity), which compares all records, and a "
          + "worker sees its own; import it with 'import'")
    }
  }

  private static func refused(_ path: String, _ reason: String) -> PipelineError {
    PipelineError(path: path, "this import can't be planned: \(reason)")
  }
}
