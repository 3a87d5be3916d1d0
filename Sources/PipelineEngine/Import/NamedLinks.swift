import CSV
import Foundation
import OpenCoreData

/// The columns of an import by name that lead to related objects: those whose labels are paths, such as `spot.name`.
enum NamedLinks {
  /// The columns that the header of a file asks for; none where it can't be read, which the import then reports.
  ///
  /// All columns of one relationship together say which object is meant, and an object that the store does not have
  /// rejects the record.
  ///
  /// - Throws: ``PipelineError`` for a label that is the name of a relationship: it does not say which attribute of the
  ///   related object its values are.
  static func columns(
    for definition: PipelineDefinition, entity: NSEntityDescription, in file: InputFile?, csvOptions: [String]
  ) throws(PipelineError) -> [ColumnDefinition] {
    guard !entity.relationshipsByName.isEmpty, let file, file.isReadTwice,
      let labels = try? labels(of: file, definition, csvOptions: csvOptions)
    else { return [] }
    var columns: [ColumnDefinition] = []
    for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
      let types = relationship.destinationEntity?.fillableTypes ?? [:]
      if labels.contains(name) {
        let example = types["name"] != nil ? "name" : types.keys.min() ?? "attribute"
        throw PipelineError(
          path: "columns",
          "the label '\(name)' of \(file.name) is a relationship of \(entity.name ?? ""), and its values are those of an "
            + "attribute of \(relationship.destinationEntity?.name ?? ""); name it too, such as '\(name).\(example)'")
      }
      let found = types.keys.sorted().filter { labels.contains("\(name).\($0)") }
      for attribute in found {
        var column = ColumnDefinition("\(name).\(attribute)")
        if types[attribute] == .date { column.formats = PipelineDefinition.exactlyReadDates }
        if attribute == found.first {
          column.link = LinkDefinition(
            by: found, ifIncomplete: .match, separator: relationship.isToMany ? LinkDefinition.usualSeparator : nil)
        }
        columns.append(column)
      }
    }
    return columns
  }

  private static func labels(
    of file: InputFile, _ definition: PipelineDefinition, csvOptions: [String]
  ) throws(CSVError) -> Set<String> {
    guard definition.dialect.header else { return Set(definition.dialect.columns) }
    let opener = RecordOpener(definition: definition, path: file.path, csvOptions: csvOptions)
    let reader = try opener.open(try InputOpener(file).completeSource())
    let names = try (reader as? CSVReader)?.readHeader()?.names ?? []
    return Set(names.map(ColumnLabel.trimmed))
  }
}
