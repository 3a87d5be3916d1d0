extension ExpectDefinition {
  /// What is expected, in plain words, one line for the number of records and one for each column.
  var words: [String] {
    let ofRecords = records.map { records in
      let mean = "% of the mean of the last \(records.lastRuns) runs"
      return "records: "
        + Self.list(
          [
            records.min.map { "at least \($0)" }, records.max.map { "at most \($0)" },
            records.minPercentOfMean.map { "at least \(QuantityPattern.plain($0)) \(mean)" },
            records.maxPercentOfMean.map { "at most \(QuantityPattern.plain($0)) \(mean)" },
          ], records.severity)
    }
    let ofColumns = columns.map { column in
      "\(column.name): "
        + Self.list(
          [
            column.emptyPercentMax.map { "at most \(QuantityPattern.plain($0)) % empty" },
            column.distinctMin.map { "at least \($0) different values" },
            column.distinctMax.map { "at most \($0) different values" },
            column.newestWithinDays.map { "the newest at most \(QuantityPattern.plain($0)) days old" },
          ], column.severity)
    }
    return [ofRecords].compactMap(\.self) + ofColumns
  }

  private static func list(_ parts: [String?], _ severity: Severity) -> String {
    parts.compactMap(\.self).joined(separator: "; ") + (severity == .warning ? "; otherwise a warning" : "")
  }
}
