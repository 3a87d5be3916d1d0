import Foundation
import PersistentStores

/// The files of a pipeline itself, which an inbox leaves out.
struct OwnFiles: Sendable {
  private let pipeline: String
  /// Those of the store, the reports and the log, without symbolic links.
  private let paths: Set<String>
  /// The reports that have one for each run, by their folders.
  private let series: [String: [ReportName]]

  init(_ definition: PipelineDefinition, _ options: RunOptions) {
    pipeline = definition.name
    let store = definition.storeLocation(options)?.path
    let log = EventLog.Destination(definition, options)?.path
    let named = ReportFiles.paths(definition, options) + [store, log].compactMap(\.self)
    paths = Set(named.map { StorePath.resolved($0) }).union(store.map { OutputPath.paths(nextToStore: $0) } ?? [])
    var series: [String: [ReportName]] = [:]
    for report in definition.report {
      guard let name = try? ReportName(report), name.isSeries else { continue }
      series[StorePath.resolved(OutputPath.folder(of: definition.path(report))), default: []].append(name)
    }
    self.series = series
  }

  func contains(_ path: String) -> Bool {
    paths.contains(StorePath.resolved(path)) || isReport(path)
  }

  private func isReport(_ path: String) -> Bool {
    if series.isEmpty { return false }
    let name = URL(fileURLWithPath: path).lastPathComponent
    let names = series[StorePath.resolved(OutputPath.folder(of: path))] ?? []
    return names.contains { $0.matches(name, pipeline: pipeline) }
  }
}
