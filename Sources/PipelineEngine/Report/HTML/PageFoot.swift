import Foundation

/// The foot of the page: the figures of the machine, the hashes of the files, and what made the page.
struct PageFoot {
  private let summary: RunSummary

  init(_ summary: RunSummary) { self.summary = summary }

  var markup: Markup {
    """
    <footer>
    <dl class="facts">
    \(facts.map { "<div><dt>\($0)</dt><dd>\($1)</dd></div>\n" })</dl>
    \(hashes)
    <p>Report of \(summary.program), format \(summary.formatVersion)\(summary.run.map { ", run \($0)" } ?? ""). \
    Times are UTC.</p>
    </footer>
    """
  }

  private var facts: [(String, String)] {
    var facts = [("Time", Self.duration(summary.seconds))]
    if summary.rowsPerSecond >= 1 {
      facts.append(("Speed", "\(TextTable.grouped(Int(summary.rowsPerSecond.rounded()))) rows/s"))
    }
    let bytes = (summary.kind == .export ? summary.outputs : summary.inputs).reduce(0) { $0 + $1.bytes }
    if bytes > 0, summary.seconds > 0 {
      facts.append(("Throughput", "\(TextTable.bytes(Int(Double(bytes) / summary.seconds)))/s"))
    }
    facts.append(("Peak memory", TextTable.bytes(summary.memoryPeakBytes)))
    facts.append(("Exit status", String(summary.exitCode.rawValue)))
    return facts
  }

  private var hashes: Markup? {
    let files = (summary.inputs + summary.outputs).compactMap { file in file.contentHash.map { (file, $0) } }
    if files.isEmpty { return nil }
    let rows = files.map { file, hash -> Markup in
      "<li><span class=\"path\">\(summary.name(of: file))</span> xxh128 <span class=\"path\">\(hash)</span></li>\n"
    }
    return "<ul class=\"hashes\">\n\(rows)</ul>"
  }

  /// 0.53 s, 2 min 5 s, 3 h 12 min.
  static func duration(_ seconds: Double) -> String {
    if seconds < 59.995 { return String(format: "%.2f s", seconds) }
    // The index of runs shows what its file of records says, which may be damaged.
    let whole = Int(clamping: seconds)
    if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
    return "\(TextTable.grouped(whole / 3600)) h \(whole % 3600 / 60) min"
  }
}
