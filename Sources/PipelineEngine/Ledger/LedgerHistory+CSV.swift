import CSV

extension LedgerHistory {
  private static let csvColumns = [
    "run", "startedAt", "endedAt", "pipeline", "outcome", "exitCode", "read", "inserted", "updated", "unchanged",
    "duplicate", "repeated", "rejected", "waiting", "message",
  ]

  /// The runs as CSV with a header, a record for each run. A value that is not known is empty.
  ///
  /// - Throws: The error of the writer, which values of a history do not cause.
  package func csv() throws -> String {
    let sink = try ByteSink.memory()
    var writer = try CSVWriter(sink)
    try writer.write(Self.csvColumns)
    for run in runs {
      let counts = run.counts.map {
        [$0.read, $0.inserted, $0.updated, $0.unchanged, $0.duplicate, $0.repeated, $0.rejected]
      }
      let numbers = counts?.map(String.init) ?? Array(repeating: "", count: 7)
      try writer.write(
        [run.run, run.startedAt, run.endedAt ?? "", run.pipeline, run.outcome, run.exitCode.map(String.init) ?? ""]
          + numbers + [String(run.inputs.reduce(0) { $0 + $1.waiting }), run.message ?? ""])
    }
    try writer.flush()
    try sink.finish()
    return String(decoding: sink.bytes, as: UTF8.self)
  }
}
