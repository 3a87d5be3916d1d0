import OpenCoreData

/// Makes the ``EntryProfile`` of a run, batch by batch.
struct EntryProfiler: Sendable {
  private var columns: [ProfiledColumn]

  /// For the attributes that the definition's `charts` name; without them for the first date that a column fills and
  /// every whole number.
  ///
  /// - Throws: The names that the entity does not have, or that are of a type that no chart shows.
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
  }

  /// Goes on from what an interrupted run had counted. Attributes that it did not count begin at nothing.
  mutating func resume(_ profile: EntryProfile) {
    for index in columns.indices {
      if let chart = profile.charts.first(where: { $0.attribute == columns[index].attribute }) {
        columns[index].resume(chart)
      }
    }
  }

  /// Nil where no report will show it: the counting is not for nothing. Mistakes in `charts` are told all the same.
  static func wanted(
    _ definition: PipelineDefinition, _ options: RunOptions, _ entity: NSEntityDescription
  ) throws(PipelineError) -> EntryProfiler? {
    let profiler = try EntryProfiler(definition, entity: entity)
    return options.profilesEntries || !ReportFiles.paths(definition, options).isEmpty ? profiler : nil
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
  }

  var profile: EntryProfile { EntryProfile(charts: columns.map(\.chart)) }
}

extension ColumnType {
  /// nil for what no chart shows: numbers with fractions have no bars of their own.
  fileprivate var chartKind: EntryProfile.Chart.Kind? {
    switch self {
    case .date: .months
    case .integer: .integers
    case .text, .uri: .texts
    case .real, .single, .decimal, .boolean, .uuid, .binary, .archive: nil
    }
  }
}
