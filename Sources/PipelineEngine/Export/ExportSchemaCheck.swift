import Foundation
import ManagedObjectModel
import OpenCoreData

/// Checks a definition's export part against its model: what an export needs of both, or all mistakes.
package struct ExportSchemaCheck {
  let entity: NSEntityDescription
  let formatter: EntryFormatter

  package init(_ definition: PipelineDefinition, model: NSManagedObjectModel) throws(PipelineError) {
    let export = definition.export ?? ExportDefinition()
    let entity = try definition.entity(in: model)
    self.entity = entity
    var mistakes: [PipelineError.Mistake] = []
    var formatter: EntryFormatter?
    do throws(PipelineError) {
      formatter = try EntryFormatter(
        export, entity: entity, dateFormats: definition.vocabulary.dateFormats, limits: definition.limits)
    } catch {
      mistakes += error.mistakes
    }
    do throws(PipelineError) {
      try Self.checkMonth(export, entity)
    } catch {
      mistakes += error.mistakes
    }
    mistakes += Self.predicateMistake(export, entity).map { [$0] } ?? []
    mistakes += Self.sortMistakes(export, entity)
    guard let formatter, mistakes.isEmpty else { throw PipelineError(mistakes: mistakes) }
    self.formatter = formatter
  }

  private static func checkMonth(_ export: ExportDefinition, _ entity: NSEntityDescription) throws(PipelineError) {
    guard case .month(let attribute)? = export.split else { return }
    let dates = entity.columnTypes.filter { $0.value == .date }.keys.sorted()
    guard dates.contains(attribute) else {
      throw PipelineError(
        path: "export.split.month",
        "\(entity.name ?? "") has no date '\(attribute)'; months are determined by \(ObjectReader.list(dates))")
    }
  }

  /// Only to find mistakes early; the fetching context parses the predicate again.
  private static func predicateMistake(
    _ export: ExportDefinition, _ entity: NSEntityDescription
  ) -> PipelineError.Mistake? {
    guard let text = export.predicate else { return nil }
    do {
      _ = try NSPredicate.parse(format: text).predicateNode().bound(to: EntityPredicateSchema(entity: entity))
      return nil
    } catch {
      return .init(path: "export.predicate", message: explanation(error as NSError, of: text, entity))
    }
  }

  /// The error of a predicate without the framework's terms.
  private static func explanation(_ error: NSError, of text: String, _ entity: NSEntityDescription) -> String {
    let message = error.localizedDescription
    if let path = error.userInfo[EntityPredicateSchema.unknownKeyPathKey] as? String {
      let names = entity.attributeSlots.map(\.name)
      return "\(entity.name ?? "") has no '\(path)'; it has \(names.joined(separator: ", "))"
        + NearestName.hint(for: path, in: names)
    }
    guard let position = error.userInfo["NSPredicateFormatPosition"] as? Int,
      let reason = message.range(of: "at character \(position): ")
    else { return message }
    return "the condition \(RawText.shortened(text.utf8)) can't be read at character \(position): "
      + message[reason.upperBound...]
  }

  private static func sortMistakes(
    _ export: ExportDefinition, _ entity: NSEntityDescription
  ) -> [PipelineError.Mistake] {
    export.sort.enumerated().compactMap { index, key in
      do throws(PipelineError) {
        _ = try ColumnPath(key.attribute, of: entity)
        return nil
      } catch {
        return .init(path: "export.sort[\(index)]", message: error.message)
      }
    }
  }
}

extension PipelineDefinition {
  /// With the usual separator for the columns of the export over to-many relationships that have none.
  func joiningLists(in model: NSManagedObjectModel) -> PipelineDefinition {
    guard let entity = model.entitiesByName[entity] else { return self }
    var definition = self
    for (index, column) in (export?.columns ?? []).enumerated() where column.separator == nil {
      let names = column.attribute.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard names.count == 2, entity.relationshipsByName[names[0]]?.isToMany == true else { continue }
      definition.export?.columns[index].separator = LinkDefinition.usualSeparator
    }
    return definition
  }
}
