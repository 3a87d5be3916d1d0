import Foundation

/// The page's section on the files that were read and written: what became of each, and where it is now.
struct PageFiles {
  private let summary: RunSummary

  init(_ summary: RunSummary) { self.summary = summary }

  var markup: Markup? {
    let paths = otherPaths
    if summary.inputs.isEmpty, summary.outputs.isEmpty, summary.unreadInputs == nil, paths.isEmpty { return nil }
    return """
      <section aria-labelledby="files">
      <h2 id="files">Files</h2>
      \(inputs)\(outputs)
      \(paths.isEmpty ? nil : "<dl class=\"files\">\n\(paths)</dl>" as Markup)
      </section>
      """
  }

  // MARK: Inputs

  private var inputs: Markup? {
    // What could not be read is what a reader looks for.
    let failed = (summary.unreadInputs ?? []) + summary.inputs.filter { $0.failure != nil }
    let files = failed + summary.inputs.filter { $0.failure == nil }
    if files.isEmpty { return nil }
    let hasPlaces = files.contains { $0.movedTo != nil }
    var columns: [GridTable.Column] = [.init("File"), .init("What happened")]
    columns += ["Read", "New", "Rejected"].map { GridTable.Column($0, isNumber: true) }
    if hasPlaces { columns.append(.init("Now in")) }
    let unread = Set(summary.unreadInputs ?? [])
    let rows = files.map { file -> [Markup] in
      let name: Markup =
        "<span class=\"path\">\(summary.name(of: file))</span> <span class=\"about\">\(size(file))</span>"
      let read = unread.contains(file) ? nil : file.counts?.read ?? file.records
      let place: Markup = file.movedTo.map { "<span class=\"path\">\($0)</span>" } ?? ""
      let counts = unread.contains(file) ? nil : file.counts
      let numbers = [number(read), number(counts?.inserted), number(counts?.rejected)]
      return [name, fate(file)] + numbers + (hasPlaces ? [place] : [])
    }
    return GridTable(columns: columns, rows: rows, classes: files.map { $0.failure == nil ? nil : "bad" }).markup
  }

  private func number(_ value: Int?) -> Markup { value.map { "\(TextTable.grouped($0))" } ?? "" }

  private func size(_ file: RunSummary.File) -> String { file.bytes == 0 ? "" : TextTable.bytes(file.bytes) }

  private func fate(_ file: RunSummary.File) -> Markup {
    let done = summary.kind == .validate ? "checked" : "imported"
    let first = file.firstRecord.map(TextTable.grouped) ?? ""
    let state =
      switch file.state {
      case nil: "not \(done)"
      case .imported: file.failure == nil ? done : "not \(done) to its end"
      case .known: "imported before, on \(file.importedAt.map { String($0.ISO8601Format().prefix(10)) } ?? "")"
      case .resumed: "resumed at record \(first)"
      case .grown: "new from record \(first) on"
      }
    let text = file.failure == nil || file.state == .imported || file.state == nil ? state : state + ", not to its end"
    guard let failure = file.failure else { return "\(text)" }
    return "<strong>\(text)</strong> <span class=\"about\">\(failure)</span>"
  }

  // MARK: Outputs and others

  private var outputs: Markup? {
    if summary.outputs.isEmpty { return nil }
    let columns: [GridTable.Column] = [
      .init("Written to"), .init("Entries", isNumber: true), .init("Size", isNumber: true),
    ]
    let rows = summary.outputs.map { file -> [Markup] in
      [
        "<span class=\"path\">\(summary.name(of: file))</span>", number(file.records),
        "\(TextTable.bytes(file.bytes))",
      ]
    }
    return GridTable(columns: columns, rows: rows).markup
  }

  private var otherPaths: [Markup] {
    var rows: [Markup] = []
    if let store = summary.store {
      rows.append(row("Store", store, note: summary.kind == .validate ? "untouched" : nil))
    }
    if let rejects = summary.rejects { rows.append(row("Rejects", rejects, note: "the rejected records as they were")) }
    return rows
  }

  private func row(_ kind: String, _ path: String, note: String?) -> Markup {
    """
    <div><dt>\(kind)</dt><dd><span class="path">\(path)</span>\
    \(note.map { " <span class=\"about\">\($0)</span>" as Markup })</dd></div>

    """
  }
}
