import Foundation

/// The page that lists all runs whose pages are in its folder, the newest first.
struct IndexPage {
  private let records: [RunRecord]
  private let program: String
  private let isThere: (String) -> Bool

  static let fileName = RunSummary.indexName
  private static let mark = "<meta name=\"generator\" content=\"index of runs\">"

  /// - Parameter isThere: Whether a report of a record still exists.
  init(_ records: [RunRecord], program: String, isThere: @escaping (String) -> Bool = { _ in true }) {
    // Of runs that began in the same second the later one in the file is the newer one.
    self.records = records.enumerated().sorted {
      ($1.element.startedAt, $1.offset) < ($0.element.startedAt, $0.offset)
    }
    .map(\.element)
    self.program = program
    self.isThere = isThere
  }

  /// Whether the beginning of a file is that of such a page.
  static func isOwn(_ bytes: [UInt8]) -> Bool { String(decoding: bytes, as: UTF8.self).contains(mark) }

  private var pipelines: [String] { Array(Set(records.map(\.pipeline))).sorted() }

  var html: String {
    let names = pipelines.joined(separator: ", ")
    var head = PageHead(title: "Runs of \(names)")
    head.additions = Markup(stringLiteral: Self.mark + "\n")
    let page: Markup = """
      \(head.markup)
      <body>
      <main>
      <header class="verdict">
      <p class="eyebrow">\(names)</p>
      <h1><span>All runs</span></h1>
      <p class="lede">\(lede)</p>
      </header>
      \(pipelines.enumerated().compactMap { trend($0, $1) })
      <section aria-labelledby="runs">
      <h2 id="runs">Runs</h2>
      \(table)
      </section>
      </main>
      <footer><p>Index of runs by \(program). Times are UTC.</p></footer>
      </body>
      </html>

      """
    return page.text
  }

  private var lede: String {
    guard let last = records.first else { return "No run yet." }
    let failed = records.count(where: \.hasFailed)
    let failures = failed == 0 ? "all without an error" : "\(TextTable.grouped(failed)) of them with errors"
    return "\(TextTable.count(records.count, "run")), \(failures). The last one, of \(RunBars.time(last.startedAt)): "
      + "\(last.headline)."
  }

  private func trend(_ index: Int, _ pipeline: String) -> Markup? {
    let own = records.filter { $0.pipeline == pipeline && !$0.isIdle }.prefix(RunPoint.shownMax).reversed()
    let noun = own.contains { $0.kind == .export } ? "entries" : "records"
    let bars = RunBars(own.map(\.point), id: "trend\(index)", noun: noun).markup
    guard let bars else { return nil }
    return """
      <section aria-labelledby="trend\(index)-name">
      <h2 id="trend\(index)-name">\(pipelines.count > 1 ? pipeline + ": the" : "The") last runs that had something to do</h2>
      \(bars)
      </section>

      """
  }

  private var table: Markup {
    let hasSeveral = pipelines.count > 1
    var columns: [GridTable.Column] = [.init("When")]
    if hasSeveral { columns.append(.init("Pipeline")) }
    columns.append(.init("Result"))
    columns += ["Read", "New", "Rejected", "Time"].map { GridTable.Column($0, isNumber: true) }
    let rows = records.map { record -> [Markup] in
      let pipeline: [Markup] = hasSeveral ? ["\(record.pipeline)"] : []
      return [when(record)] + pipeline + [result(record)] + numbers(record)
    }
    return GridTable(columns: columns, rows: rows, classes: records.map { $0.isIdle ? "idle" : $0.tone.rawValue })
      .markup
  }

  private func when(_ record: RunRecord) -> Markup {
    let time = RunBars.time(record.startedAt)
    let page = record.reports.first { $0.hasSuffix(".html") && isThere($0) }
    return page.map { "<a class=\"when\" href=\"\(Self.address($0))\">\(time)</a>" }
      ?? "<span class=\"when\">\(time)</span>"
  }

  private func result(_ record: RunRecord) -> Markup {
    """
    <span class="mark" aria-hidden="true">\(Self.sign(record.tone))</span> \(record.headline)\
    \(record.reason.map { " <span class=\"about\">\($0)</span>" as Markup })
    """
  }

  private func numbers(_ record: RunRecord) -> [Markup] {
    let isExport = record.kind == .export
    return [
      "\(TextTable.grouped(record.size))", isExport ? "" : "\(TextTable.grouped(record.inserted))",
      isExport ? "" : "\(TextTable.grouped(record.rejected))", "\(PageFoot.duration(record.seconds))",
    ]
  }

  /// A shape for each tone, for users who can't distinguish the colours.
  private static func sign(_ tone: RunVerdict.Tone) -> String {
    switch tone {
    case .clean: "✓"
    case .warnings, .errors: "!"
    case .stopped, .cancelled: "‖"
    case .failed: "✕"
    }
  }

  /// A path as a reference. `./` keeps a name with a colon from being taken for another scheme.
  private static func address(_ path: String) -> String {
    let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/")
    let encoded = path.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    return path.hasPrefix("/") ? encoded : "./" + encoded
  }
}
