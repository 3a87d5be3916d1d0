import PipelineEngine

/// The pipelines that the command knows by heart. The files of the same names in `Pipelines/` say the same, for
/// those who want to change something.
extension PipelineDefinition {
  /// Every built-in pipeline, the default of an import first.
  public static let presets = [surfLog, surfLogStrict, journalApp, roundTrip]

  /// What a bare `surfjournal import FILE` does: a readable date, a rating of 1–5 if there is one, texts of bounded
  /// length; no key.
  public static let surfLog = PipelineDefinition(
    name: "surf-log",
    description: "Surf logs as people keep them: a readable date, a rating from 1 to 5 if there is one, free text.",
    columns: [date(["iso8601", "journal-app"])] + texts.map { ColumnDefinition($0, rules: [textLength]) } + [rating],
    charts: charts, vocabulary: .journal)

  /// For logs that programs write: heights and periods are quantities, and a session is logged once.
  public static let surfLogStrict = PipelineDefinition(
    name: "surf-log-strict",
    description: "Surf logs in order: heights and periods are quantities, one entry per date and place.",
    columns: [
      date(["iso8601", "journal-app"]),
      ColumnDefinition("height", rules: [ValueRule(.quantity(heights)), textLength]),
      ColumnDefinition("period", rules: [ValueRule(.quantity(periods)), textLength]),
      ColumnDefinition("wind", rules: [textLength]),
      ColumnDefinition("location", rules: [ValueRule(.required), textLength]),
      rating,
    ],
    key: ["date", "location"], charts: charts, vocabulary: .journal)

  /// The journal app's own export, read and written: no header, short dates, nothing quoted.
  public static let journalApp = PipelineDefinition(
    name: "journal-app",
    description: "The journal app's own CSV, to read and to write: no header, short dates, nothing quoted.",
    dialect: .journalApp,
    columns: [date(["journal-app"])] + texts.map { ColumnDefinition($0, rules: [textLength]) } + [rating],
    charts: charts, export: ExportDefinition(dateFormat: ["journal-app"], dialect: .journalApp), vocabulary: .journal)

  /// Export, import, export: every value comes back as it was stored, whatever it is.
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

  /// What the reports of all of them show.
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
