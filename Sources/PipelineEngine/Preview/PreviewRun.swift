import OpenCoreData

/// Reads files as an import would, without a store, and shows what it reads.
///
/// The files are read to their end, a chunk at a time. Memory is bounded by the chunks on their way through the parser
/// and by ``PreviewBounds``: 10,000 different values for each column, 200,000 for all columns of a file, and up to 22
/// records for each of the first 100 columns.
package struct PreviewRun: Sendable {
  /// How many records a caller may ask for.
  package static let recordsRange = 1...100
  /// How many of the first and of the last records are shown unless the caller says otherwise.
  package static let recordsDefault = 3

  private let definition: PipelineDefinition
  private let options: RunOptions
  private let recordsMax: Int

  /// - Parameters:
  ///   - definition: What is read. Its store may provide the model, and is not used otherwise.
  ///   - options: Their `inputs` are read.
  ///   - recordsMax: How many of the first and of the last records are shown.
  package init(_ definition: PipelineDefinition, options: RunOptions, recordsMax: Int = recordsDefault) {
    (self.definition, self.options, self.recordsMax) = (definition, options, recordsMax)
  }

  /// Reads the files on a thread of its own.
  ///
  /// - Throws: `PipelineError` for a definition that can't be run as it is.
  package func run(_ control: ReadingControl) async throws(PipelineError) -> Preview {
    let (definition, options, recordsMax) = (definition, options, recordsMax)
    return try await ObservedRun.onThread("preview") { () throws(PipelineError) in
      let model: RunModel
      switch try RunModel.found(
        definition, options: options, store: definition.storeLocation(options)?.text, for: .modelAlone)
      {
      case .success(let found): model = found
      case .failure(let failure):
        return Preview(
          pipeline: definition.name, files: [], headerIssues: [], note: nil, failure: failure.summary,
          exitCode: failure.exitCode)
      }
      let observer = PreviewObserver(recordsMax: recordsMax)
      let run = ObservedRun(definition, options: options, model: model, control: control)
      let summary = try run.read(options.inputs ?? [], observer: observer)
      return Preview(
        pipeline: definition.name, files: observer.previews,
        headerIssues: summary.issues.listed.filter { $0.record == 0 && $0.code.scope == .header }, note: summary.note,
        failure: summary.unfinished, exitCode: summary.exitCode)
    }
  }
}
