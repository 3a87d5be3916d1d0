/// The page's section on the files that were read and written.
struct PageFiles {
  private let summary: RunSummary

  init(_ summary: RunSummary) { self.summary = summary }

  var markup: Markup? {
    let rows = files("Input", summary.inputs) + files("Output", summary.outputs) + outputPaths
    if rows.isEmpty { return nil }
    return """
      <section aria-labelledby="files">
      <h2 id="files">Files</h2>
      <dl class="files">
      \(rows)</dl>
      </section>
      """
  }

  private func files(_ kind: String, _ files: [RunSummary.File]) -> [Markup] {
    files.map { file in
      let records = TextTable.count(file.records, "record") + summary.stateText(file)
      let hash = file.contentHash.map { ", xxh128 \($0)" } ?? ""
      return row(kind, summary.name(of: file), note: "\(TextTable.bytes(file.bytes)), \(records)\(hash)")
    }
  }

  private var outputPaths: [Markup] {
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
