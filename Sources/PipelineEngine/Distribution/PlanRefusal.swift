import OpenCoreData

/// What can't be imported by many workers at once, with the reason.
enum PlanRefusal {
  static func check(_ run: ImportRun) throws(PipelineError) {
    if run.definition.dryRun, !run.isDryRun {
      throw refused(
        "dryRun", "its runs store nothing; take \"dryRun\" out, or plan a check with --dry-run -o PLAN")
    }
    if run.parts.count > 1, run.isDryRun {
      throw refused(
        "parts",
        "it fills several entities, and what later ones lead to is looked up in the store, which these workers don't "
          + "have; check it with 'validate', or plan it with --store")
    }
    // Links to records of the run make it atomic, and are the better reason.
    for (index, part) in run.parts.enumerated() {
      try run.definition.inImport(index) { () throws(PipelineError) in
        for link in part.environment.links { try check(link, part.environment) }
      }
    }
    if run.definition.atomic {
      throw refused(
        "atomic", "the transactions of several workers are not one; take \"atomic\" out, or import with 'import'")
    }
    for (index, part) in run.parts.enumerated() {
      try run.definition.inImport(index) { () throws(PipelineError) in
        try check(part, isDryRun: run.isDryRun)
        for earlier in run.parts[..<index] { try check(part.environment, after: earlier.environment) }
      }
    }
  }

  private static func check(_ part: ImportPart, isDryRun: Bool) throws(PipelineError) {
    let (definition, environment) = (part.environment.definition, part.environment)
    if environment.changedInputs != .refuse {
      throw refused(
        "changedInputs",
        "what an input replaces, or has new, is known only when it is read from its start to its end; "
          + "import it with 'import'")
    }
    if part.inbox != nil { throw refused("inbox", "its files are moved by one run; name the files to plan instead") }
    try checkKey(definition, isDryRun: isDryRun)
    // Records with the same values of a key are one entry, and so are those that are alike in more.
    func isOfKey(_ names: [String]) -> Bool { !definition.key.isEmpty && definition.key.allSatisfy(names.contains) }
    if let index = definition.columns.firstIndex(where: { column in
      column.rules.contains { $0.kind == .unique } && !isOfKey([column.attribute])
    }) {
      throw refused(
        definition.columnPath(index),
        "the rule 'unique' compares all records, and a worker sees its own; make the column the key of the pipeline, or "
          + "import it with 'import'")
    }
    if let names = environment.store.entity.uniquenessConstraintNames.first(where: { !isOfKey($0) }) {
      throw refused(
        "entity",
        "the model has a uniqueness constraint for \(definition.entity) (\(names.joined(separator: ", "))), which "
          + "compares all records, and a worker sees its own; make it the key of the pipeline, or import it with 'import'"
      )
    }
  }

  /// Workers compare keys in the store. What becomes of a record must not depend on those that come later in the inputs.
  private static func checkKey(_ definition: PipelineDefinition, isDryRun: Bool) throws(PipelineError) {
    if definition.key.isEmpty { return }
    if isDryRun {
      throw refused(
        "key",
        "the keys of all records have to be compared, and workers without a store see their own; check it with "
          + "'validate', or plan it with --store")
    }
    if definition.duplicates == .reject {
      throw refused(
        "duplicates",
        "of two records with the same key the second one would be rejected, and a worker that imports the first one "
          + "later does not have the second one any more; set \"duplicates\" to skip, update or keepNewest, or import it "
          + "with 'import'")
    }
  }

  /// What only the inputs show.
  static func check(_ inputs: [PlannedInput], _ environment: ImportEnvironment) throws(PipelineError) {
    let definition = environment.definition
    guard !definition.key.isEmpty, let first = inputs.first else { return }
    if let other = inputs.first(where: { $0.digester.sharedLinks != first.digester.sharedLinks }) {
      throw refused(
        "key",
        "\(other.file.name) has other columns that lead to objects than \(first.file.name), and entries of both can have one "
          + "key; plan files with the same columns together, one plan after the other")
    }
    guard definition.duplicates.updates else { return }
    if let input = inputs.first(where: \.form.isJSONLines) {
      throw refused(
        "duplicates",
        "records of JSON Lines may leave values out, which an update leaves as earlier records have set them, and "
          + "workers don't import \(input.file.name) in its order; import it with 'import'")
    }
    if let other = inputs.first(where: { $0.digester != first.digester }) {
      throw refused(
        "duplicates",
        "\(other.file.name) has other columns than \(first.file.name), so an update by one of them leaves values of the "
          + "other; plan files with the same columns together, one plan after the other")
    }
  }

  static func refused(_ path: String, _ reason: String) -> PipelineError {
    PipelineError(path: path, "this import can't be planned: \(reason)")
  }
}
