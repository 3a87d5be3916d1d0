import OpenCoreData
import PersistentStores

/// Makes the ``EntryProfile`` of a run, batch by batch.
struct EntryProfiler: Sendable {
  private var columns: [ProfiledColumn]
  /// What is counted of every column that a record fills.
  private(set) var tallies: [ColumnTally] = []

  /// For the attributes that the definition's `charts` name; by default for the first date that a column fills and
  /// every whole number.
  ///
  /// - Throws: The names that the entity does not have, or whose type no chart supports.
  init(_ definition: PipelineDefinition, entity: NSEntityDescription) throws(PipelineError) {
    let kinds = entity.columnTypes.compactMapValues(\.chartKind)
    var mistakes: [PipelineError.Mistake] = []
    var columns: [ProfiledColumn] = []
    for (index, name) in (definition.charts ?? Self.defaultCharts(definition, kinds)).enumerated() {
      if let slot = entity.slot(named: name), let kind = kinds[name] {
        columns.append(ProfiledColumn(name, kind, slot: slot))
      } else if entity.slot(named: name) != nil {
        let message = "no chart can be made of '\(name)'; dates, whole numbers and texts can be shown"
        mistakes.append(.init(path: "charts[\(index)]", message: message))
      } else {
        let hint = NearestName.hint(for: name, in: kinds.keys.sorted())
        mistakes.append(
          .init(path: "charts[\(index)]", message: "\(definition.entity) has no attribute '\(name)'\(hint)"))
      }
    }
    if !mistakes.isEmpty { throw PipelineError(mistakes: mistakes) }
    self.columns = columns
    tallies = ColumnTally.all(definition, types: entity.columnTypes) { entity.slot(named: $0) }
  }

  /// Continues from what an interrupted run had counted. Attributes that it did not count begin at zero. Tallies of other
  /// columns are of no use.
  mutating func resume(_ profile: EntryProfile, tallies kept: [String: String]) {
    for index in tallies.indices {
      guard let text = kept[tallies[index].name], tallies[index].resume(text) else {
        tallies = []
        break
      }
    }
    for index in columns.indices {
      if let chart = profile.charts.first(where: { $0.attribute == columns[index].attribute }) {
        columns[index].resume(chart)
      }
    }
  }

  /// What this profiler and that of a later part of the same input have counted.
  func merged(with later: EntryProfiler) -> EntryProfiler {
    var merged = self
    for chart in later.profile.charts {
      guard let index = columns.firstIndex(where: { $0.attribute == chart.attribute }) else { continue }
      merged.columns[index].resume(chart)
    }
    let isAlike = tallies.map(\.name) == later.tallies.map(\.name)
    merged.tallies = isAlike ? zip(tallies, later.tallies).map { $0.merged(with: $1) } : []
    return merged
  }

  private static func defaultCharts(
    _ definition: PipelineDefinition, _ kinds: [String: EntryProfile.Chart.Kind]
  ) -> [String] {
    let attributes = definition.columns.map(\.attribute)
    let date = attributes.first { kinds[$0] == .months }
    return (date.map { [$0] } ?? []) + attributes.filter { kinds[$0] == .integers }
  }

  /// Counts every row of `batch`, whose entity is the profiler's.
  mutating func add(_ batch: ObjectBatch) { add(batch, 0..<batch.count) }

  /// Counts the rows with these numbers.
  mutating func add(_ batch: ObjectBatch, rows: [Int]) { add(batch, rows) }

  private mutating func add(_ batch: ObjectBatch, _ rows: some Collection<Int>) {
    for index in columns.indices { columns[index].add(batch, rows) }
    for index in tallies.indices { tallies[index].add(batch, rows) }
  }

  var profile: EntryProfile { EntryProfile(charts: columns.map(\.chart)) }
}

extension ColumnType {
  /// nil for types that no chart supports: numbers with fractions are not grouped into bars.
  fileprivate var chartKind: EntryProfile.Chart.Kind? {
    switch self {
    case .date: .months
    case .integer: .integers
    case .text, .uri: .texts
    case .real, .single, .decimal, .boolean, .uuid, .binary, .archive: nil
    }
  }
}
