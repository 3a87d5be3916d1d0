import PipelineEngine

/// The built-in pipelines. The files with the same names in `Pipelines/` have the same content and are a starting
/// point for variants.
///
/// ```swift
/// var definition = PipelineDefinition.surfLog
/// definition.key = ["date", "location"]
/// definition.duplicates = .update(columns: nil)
/// try definition.check()
/// ```
extension PipelineDefinition {
  /// Every built-in pipeline; the first is the default of an import.
  public static let presets = [surfLog, surfLogStrict, journalApp, roundTrip]

  /// The default of `surfjournal import FILE`: a valid date, an optional rating of 1–5, texts of limited length; no
  /// key.
  public static let surfLog = PipelineDefinition(
    name: "surf-log",
    description: "Surf logs as people keep them: a readable date, a rating from 1 to 5 if there is one, free text.",
    columns: [date(readableDates)] + texts.map { ColumnDefinition($0, rules: [textLength]) } + [rating],
    charts: charts, vocabulary: .journal)

  /// For logs written by programs: heights and periods are quantities, and date and location identify a session.
  public static let surfLogStrict = PipelineDefinition(
    name: "surf-log-strict",
    description: "Surf logs in order: heights and periods are quantities, one entry per date and place.",
    columns: [
      date(readableDates),
      ColumnDefinition("height", rules: [ValueRule(.quantity(heights)), textLength]),
      ColumnDefinition("period", rules: [ValueRule(.quantity(periods)), textLength]),
      ColumnDefinition("wind", rules: [textLength]),
      ColumnDefinition("location", rules: [ValueRule(.required), textLength]),
      rating,
    ],
    key: ["date", "location"], charts: charts, vocabulary: .journal)

  /// Reads and writes the journal app's own export: no header, short dates, no quotes.
  public static let journalApp: PipelineDefinition = {
    var dialect = DialectDefinition.journalApp
    dialect.trailingComma = true
    return PipelineDefinition(
      name: "journal-app",
      description: "The journal app's own CSV, to read and to write: no header, short dates, nothing quoted.",
      dialect: dialect,
      columns: [date(["journal-app"])] + texts.map { ColumnDefinition($0, rules: [textLength]) } + [rating],
      charts: charts, export: ExportDefinition(dateFormat: ["journal-app"], dialect: .journalApp),
      vocabulary: .journal)
  }()

  /// Exports and imports every stored value without loss.
  public static let roundTrip: PipelineDefinition = {
    let formats = ["iso8601", "seconds"]
    var dialect = DialectDefinition.rfc4180
    dialect.null = "\\N"
    dialect.nulBytes = .keep
    var limits = LimitsDefinition()
    limits.fieldBytesMax = 256 << 20
    limits.recordBytesMax = 256 << 20
    return PipelineDefinition(
      name: "round-trip",
      description: "Stores to CSV and back: every value as it is stored, without rules.",
      dialect: dialect,
      columns: [ColumnDefinition("date", formats: formats)] + (texts + ["rating"]).map { ColumnDefinition($0) },
      limits: limits, charts: charts,
      export: ExportDefinition(
        columns: (["date"] + texts + ["rating"]).map { ExportDefinition.Column($0) }, dateFormat: formats,
        dialect: dialect), vocabulary: .journal)
  }()

  /// Short dates are read in the order that a file's dates decide, and refused where none does.
  private static let readableDates = ["iso8601", "journal-app", "d/M/yy"]
  /// The charts in the reports of these pipelines.
  private static let charts = ["date", "rating", "location"]
  private static let texts = ["height", "period", "wind", "location"]
  private static let textLength = ValueRule(.length(min: nil, max: 1000))
  private static let rating = ColumnDefinition("rating", rules: [ValueRule(.range(min: 1, max: 5))])
  private static let heights = QuantityRule(
    units: ["ft", "feet", "foot", "m", "metres", "meters", "'"], words: ["Flat"], min: 0, max: 100)
  private static let periods = QuantityRule(units: ["s", "sec", "secs", "seconds"], min: 0, max: 60)

  private static func date(_ formats: [String]) -> ColumnDefinition {
    ColumnDefinition(
      "date", formats: formats,
      rules: [ValueRule(.required), ValueRule(.notBefore("1900-01-01")), ValueRule(.notInFuture)])
  }
}
