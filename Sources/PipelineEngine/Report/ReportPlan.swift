import Foundation
import SystemSupport

/// The reports of one run: their paths, and which of them a run that found nothing to do leaves as they are.
struct ReportPlan {
  /// One report.
  struct Report: Hashable {
    let path: String
    /// The name with its placeholders.
    let name: ReportName
    /// Whether other runs have files of their own.
    var isSeries: Bool { name.isSeries }
  }

  let reports: [Report]
  /// Whether they are those of the definition, and not the caller's.
  private let isOfDefinition: Bool

  init(_ reports: [Report], isOfDefinition: Bool) {
    self.reports = reports
    self.isOfDefinition = isOfDefinition
  }

  /// Replaces the placeholders in the names of the definition's reports and of the caller's.
  ///
  /// - Throws: `PipelineError` for a name that no report can have.
  init(
    _ definition: inout PipelineDefinition, _ options: inout RunOptions, with values: ReportName.Values
  ) throws(PipelineError) {
    var templates: [ReportName] = []
    func resolve(_ names: [String]) throws(PipelineError) -> [String] {
      var paths: [String] = []
      for (index, name) in names.enumerated() {
        do throws(PipelineError) {
          let template = try ReportName(name)
          paths.append(template.path(values))
          templates.append(template)
        } catch {
          throw PipelineError(path: "report[\(index)]", error.mistakes.first?.message ?? error.message)
        }
      }
      return paths
    }
    isOfDefinition = options.reports == nil
    options.reports = try options.reports.map(resolve)
    let ofCaller = templates
    templates = []
    definition.report = try resolve(definition.report)
    let own = isOfDefinition ? templates : ofCaller
    reports = zip(ReportFiles.paths(definition, options), own).map(Report.init)
  }

  var paths: [String] { reports.map(\.path) }

  /// The reports that a run writes. A page or a text of the definition's that an earlier run has written stays, where this
  /// one has nothing to say; those for programs say what the last run did.
  func reports(of summary: RunSummary) -> [Report] {
    guard isOfDefinition, summary.hadNothingToDo else { return reports }
    return reports.filter { report in
      switch ReportFormat(path: report.path) {
      case .html, .text: !report.isSeries && !mayExist(report.path)
      case .json, .junit, .prometheus, nil: true
      }
    }
  }
}
