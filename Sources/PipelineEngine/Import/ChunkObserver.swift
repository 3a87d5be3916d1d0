import CSV

/// Sees what a run reads, in the order of the input and on the run's thread: the header of each input, then each chunk
/// with what happens to its records.
protocol ChunkObserver {
  /// Called when the header of an input is accepted.
  func open(_ input: String, mapping: HeaderMapping, in environment: ImportEnvironment) throws(RunFailure)
  /// Called when a chunk was saved; in a dry run, when it was found that it could be.
  func add(_ chunk: ParsedChunk, _ plan: ChunkPlan) throws
}
