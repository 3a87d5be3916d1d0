import CSV

/// Rejects that a spreadsheet has saved in its own way.
enum SavedRejects {
  /// The delimiters that spreadsheets write.
  private static let delimiters = [",", ";", "\t", "|"]

  /// The delimiter by which the header of `rejects` has the labels that this program wrote.
  ///
  /// - Parameters:
  ///   - labels: The labels of the input that the rejects come from.
  ///   - definition: The pipeline that rejected the records.
  /// - Returns: Nil where that is the pipeline's delimiter, or where there is none.
  static func delimiter(of rejects: String, labels: [String], _ definition: PipelineDefinition) -> String? {
    let expected = trimmed(labels)
    // Any delimiter leaves a single label whole.
    guard expected.count > 1, definition.dialect.header, let own = header(of: rejects, definition), own != expected
    else { return nil }
    let found = delimiters.filter { delimiter in
      var other = definition
      other.dialect.delimiter = delimiter
      return header(of: rejects, other) == expected
    }
    return found.count == 1 ? found.first : nil
  }

  /// Nil for a file that can't be read, or only once, and for JSON Lines.
  private static func header(of rejects: String, _ definition: PipelineDefinition) -> [String]? {
    guard !InputOpener.isPipe(rejects), let source = try? InputOpener(path: rejects).completeSource(),
      let reader = try? RecordOpener(definition: definition, path: rejects).open(source) as? CSVReader
    else { return nil }
    return ((try? reader.readHeader()) ?? nil).map { trimmed($0.names) }
  }

  /// A spreadsheet fills the header up to the widest record.
  private static func trimmed(_ labels: [String]) -> [String] {
    var labels = labels.map(ColumnLabel.trimmed)
    while labels.last?.isEmpty == true { labels.removeLast() }
    return labels
  }
}

extension Replay {
  /// The delimiter of a file of rejects that another program has saved with one of its own; nil where it is the
  /// pipeline's, or where the header does not show it.
  package static func delimiter(
    of rejects: String, from origin: Origin, _ definition: PipelineDefinition
  ) -> String? {
    origin.labels.flatMap { SavedRejects.delimiter(of: rejects, labels: $0, definition) }
  }
}
