import CSV

/// Opens an input in the format that it has: CSV or JSON Lines.
///
/// The dialect decides, then the ending of the name, then the first line: a whole JSON object is not CSV. The ending also
/// says that values are separated by tabs, where the dialect names no delimiter.
struct RecordOpener: Sendable {
  let definition: PipelineDefinition
  /// The input's path.
  let path: String
  /// The options of the program that were given and say how CSV is written.
  var csvOptions: [String] = []

  /// - Throws: `CSVError` for a dialect or limits that contradict themselves, or a dialect that would misread JSON.
  func open(_ source: ByteSource) throws(CSVError) -> any RecordReader {
    let input = UnreadInput(source)
    guard isJSONLines(input) else {
      if definition.dialect.format == nil, input.isJSONDocument() {
        throw CSVError(
          .format,
          "is one JSON document; write each of its objects on a line of its own, for example with jq -c '.[]' FILE, "
            + "and name the result FILE.jsonl", path: path)
      }
      let dialect = definition.dialect.forInput(named: path) { input.hasTab(inLineAfter: definition.dialect.skipRows) }
      return try input.csvReader(dialect: dialect.csv, limits: definition.limits.csv)
    }
    if let fault = definition.dialect.jsonLinesFault { throw CSVError(.dialect, fault, path: path) }
    if let option = csvOptions.first {
      throw CSVError(
        .dialect,
        "is JSON Lines, and --\(option) says how CSV is written; leave it out, or read the file separately. If it "
          + "is CSV, add --format csv", path: path)
    }
    let policy = HeaderPolicy(definition.forJSONLines)
    let selection = MemberSelection(MemberLabels(definition.columns), extra: policy.extra)
    return try input.jsonLinesReader(selection, limits: definition.limits.csv)
  }

  private func isJSONLines(_ input: UnreadInput) -> Bool {
    switch definition.dialect.format {
    case .jsonl: true
    case .csv: false
    case nil:
      FileEnding(input: path).isJSONLines || input.isJSONLines(lineBytesMax: definition.limits.recordBytesMax)
    }
  }
}

extension PipelineDefinition {
  /// The definition for an input that is JSON Lines.
  var forJSONLines: PipelineDefinition {
    var definition = self
    definition.dialect = dialect.forJSONLines
    return definition
  }

  /// The definition for an input whose values are found to be separated by tabs.
  var forTabs: PipelineDefinition {
    var definition = self
    definition.dialect.delimiter = "\t"
    return definition
  }
}
