import Foundation
import OpenCoreData

/// The summary of an import.
extension ImportRun {
  /// What no number says: formats that were chosen, and the zone of times that name none.
  private func note(_ totals: ImportTotals) -> String? {
    var notes = totals.notes
    for part in parts where part.environment.columns.parsers.contains(where: \.hasReadLocalTime) {
      let note =
        part.environment.definition.timeZone.map { "times without a zone were read as \($0)" }
        ?? "times without a zone were read as UTC; if they are not, declare \"timeZone\", such as \"Europe/Berlin\""
      if !notes.contains(note) { notes.append(note) }
    }
    if let discarded = totals.discarded { notes.append(discarded) }
    return notes.isEmpty ? nil : notes.joined(separator: ". ")
  }

  /// The state of the inputs, the store and the rejects after the run. The store is only looked at for a report that has
  /// them.
  func gauges(of outcome: Outcome, _ totals: ImportTotals) -> RunGauges {
    var gauges = outcome.gauges
    let listed = outcome.listed.reduce(0) { $0 + $1.count }
    (gauges.inputsProcessed, gauges.inputsFailed) = (totals.processedCount, totals.failedCount)
    gauges.inputsWaiting += max(0, listed - totals.processedCount - totals.failedCount)
    gauges.version = options.programVersion
    guard ReportFiles.haveGauges(ReportFiles.paths(definition, options)), copied == nil else { return gauges }
    if let store = store.location,
      let history = try? LedgerHistory(store: store.text, vocabulary: definition.vocabulary)
    {
      gauges.rejectsWaiting = history.runs.flatMap(\.inputs).reduce(0) { $0 + $1.waiting }
    }
    if store.isOpen, store.location != nil { gauges.entries = entryCounts }
    return gauges
  }

  /// The objects of each entity that the run fills. One that can't be counted is left out.
  private var entryCounts: [RunGauges.EntryCount] {
    var counts: [RunGauges.EntryCount] = []
    for entity in parts.compactMap(\.environment.store.entity.name)
    where !counts.contains(where: { $0.entity == entity }) {
      let context = store.container.newBackgroundContext()
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      if let count = try? context.performAndWait({ try context.count(for: request) }) {
        counts.append(RunGauges.EntryCount(entity: entity, count: count))
      }
    }
    return counts
  }

  /// How a run goes on that was stopped by rejects.
  private static func advice(for definition: PipelineDefinition) -> String {
    definition.errorPolicy == .stop
      ? "let it continue with \"errorPolicy\": \"skip\" in the pipeline and without --stop-on-error"
      : "raise the errorBudget of the pipeline, or --max-errors and --max-error-percent"
  }

  func summary(_ totals: ImportTotals, _ failure: RunFailure?, seconds: Double) -> RunSummary {
    var summary = RunSummary(
      kind: kind, pipeline: definition.name,
      outcome: failure == nil ? totals.outcome : .failed, failure: failure?.summary,
      stopReason: totals.stopReason.map { definition.atomic ? $0 + "; nothing of this run is in the store" : $0 },
      run: environment.runID, startedAt: environment.startedAt, seconds: seconds, inputs: totals.files,
      store: shownStore, counts: totals.counts, issues: totals.log,
      rejects: totals.rejectsPaths.isEmpty ? nil : totals.rejectsPaths.joined(separator: ", "),
      program: definition.vocabulary.program)
    summary.rejectsFiles = totals.rejectsPaths
    summary.stopAdvice = Self.advice(for: definition)
    summary.profile = totals.profile
    if parts.count > 1 { summary.entities = totals.entities }
    if !totals.unreadFiles.isEmpty { summary.unreadInputs = totals.unreadFiles }
    setTables(of: &summary, totals)
    summary.links = totals.links.isEmpty ? nil : totals.links
    summary.note = note(totals)
    return summary
  }
}
