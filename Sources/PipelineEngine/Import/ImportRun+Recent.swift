extension ImportRun {
  /// The last runs of the pipeline that the ledger of the store has, the oldest first; none where it can't be read.
  func recentRuns() -> [RunPoint] {
    guard store.isOpen else { return [] }
    let (tables, name, id) = (environment.tables, definition.name, environment.runID)
    return (try? store.perform { try tables.recentRuns(of: name, but: id, $0) }) ?? []
  }
}
