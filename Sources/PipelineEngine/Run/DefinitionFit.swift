import Foundation
import OpenCoreData

/// A definition's import part against its model: what an import needs of both, or everything that does not fit.
struct ImportFit {
  let entity: NSEntityDescription
  let columns: ColumnSet

  /// `now` is the clock of rules about the future.
  init(_ definition: PipelineDefinition, model: NSManagedObjectModel, now: Date) throws(PipelineError) {
    entity = try definition.entity(in: model)
    columns = try ColumnSet(definition, types: entity.columnTypes, now: now)
    var mistakes: [PipelineError.Mistake] = []
    for (index, name) in definition.key.enumerated() where entity.slot(named: name) == nil {
      let hint = NearestName.hint(for: name, in: entity.columnTypes.keys.sorted())
      mistakes.append(.init(path: "key[\(index)]", message: "\(definition.entity) has no attribute '\(name)'\(hint)"))
    }
    if !mistakes.isEmpty { throw PipelineError(mistakes: mistakes) }
  }
}

extension ImportFit {
  /// Refuses outputs that would be written over one another or over what the run reads; `rejects` has the place for
  /// each input.
  static func checkPlaces(
    _ definition: PipelineDefinition, _ options: RunOptions, inputs: [InputFile], store: String?, rejects: [String?]
  ) throws(PipelineError) {
    let hasInbox = options.inputs == nil && definition.inbox != nil
    if inputs.count > 1 || hasInbox, let wish = RejectsPlace.wish(definition, options), !RejectsPlace.isFolder(wish) {
      throw PipelineError(
        path: "rejects", "several inputs need several files for their rejects; name a folder, ending in '/'")
    }
    let filesRead = inputs.map(\.path) + (store.map { [$0] } ?? [])
    for path in ReportFiles.paths(definition, options) {
      try OutputPlace.check(path, key: "report", isNoneOf: filesRead)
    }
    try EventLog.checkPlace(definition, options, isNoneOf: filesRead)
    for path in rejects.compactMap(\.self) {
      try OutputPlace.check(path, key: "rejects", isNoneOf: filesRead)
    }
  }
}

/// The same of an export.
package struct ExportFit {
  let entity: NSEntityDescription
  let formatter: EntryFormatter
  /// The attribute that says to which month's file an entry goes, if files are split so.
  let monthSlot: Int?

  package init(_ definition: PipelineDefinition, model: NSManagedObjectModel) throws(PipelineError) {
    let export = definition.export ?? ExportDefinition()
    let entity = try definition.entity(in: model)
    self.entity = entity
    var mistakes: [PipelineError.Mistake] = []
    var formatter: EntryFormatter?
    var monthSlot: Int?
    do throws(PipelineError) {
      formatter = try EntryFormatter(export, entity: entity)
    } catch {
      mistakes += error.mistakes
    }
    do throws(PipelineError) {
      monthSlot = try Self.monthSlot(export, entity)
    } catch {
      mistakes += error.mistakes
    }
    mistakes += Self.predicateMistake(export, entity).map { [$0] } ?? []
    mistakes += Self.sortMistakes(export, entity)
    guard let formatter, mistakes.isEmpty else { throw PipelineError(mistakes: mistakes) }
    self.formatter = formatter
    self.monthSlot = monthSlot
  }

  private static func monthSlot(
    _ export: ExportDefinition, _ entity: NSEntityDescription
  ) throws(PipelineError) -> Int? {
    guard case .month(let attribute)? = export.split else { return nil }
    let dates = entity.columnTypes.filter { $0.value == .date }.keys.sorted()
    guard dates.contains(attribute), let slot = entity.slot(named: attribute) else {
      throw PipelineError(
        path: "export.split.month",
        "\(entity.name ?? "") has no date '\(attribute)'; months are told by \(ObjectReader.list(dates))")
    }
    return slot
  }

  /// Only to find mistakes now; the fetching context parses the predicate again for itself.
  private static func predicateMistake(
    _ export: ExportDefinition, _ entity: NSEntityDescription
  ) -> PipelineError.Mistake? {
    guard let text = export.predicate else { return nil }
    do {
      _ = try NSPredicate.parse(format: text).predicateNode().bound(to: EntityPredicateSchema(entity: entity))
      return nil
    } catch {
      return .init(path: "export.predicate", message: (error as NSError).localizedDescription)
    }
  }

  private static func sortMistakes(
    _ export: ExportDefinition, _ entity: NSEntityDescription
  ) -> [PipelineError.Mistake] {
    export.sort.enumerated().filter { entity.slot(named: $1.attribute) == nil }.map { index, key in
      let hint = NearestName.hint(for: key.attribute, in: entity.columnTypes.keys.sorted())
      return .init(
        path: "export.sort[\(index)]", message: "\(entity.name ?? "") has no attribute '\(key.attribute)'\(hint)")
    }
  }
}

extension PipelineDefinition {
  /// The caller's model, or the one that the definition names, of those that are part of the program.
  func model(_ given: NSManagedObjectModel?) throws(PipelineError) -> NSManagedObjectModel {
    if let model = given ?? NSManagedObjectModel.embedded(named: model) { return model }
    throw PipelineError(
      path: "model", "no model '\(model)' is part of this program; use SurfJournalModel, or give one in code")
  }
}
