import Foundation

/// A chart of the last runs, the oldest on the left: a bar for each, as high as the number of its records, the rejected
/// ones on top, and a mark under a run that failed.
struct RunBars {
  private let points: [RunPoint]
  private let id: String
  /// What is counted.
  private let noun: String

  private static let height = 84.0
  private static let (top, bottom) = (8.0, 66.0)

  /// - Parameter noun: What a run has read or written, in the plural.
  init(_ points: [RunPoint], id: String, noun: String) {
    self.points = Array(points.suffix(RunPoint.shownMax))
    self.id = id
    self.noun = noun
  }

  /// Nil for fewer than two runs, which show no trend.
  var markup: Markup? {
    guard points.count > 1 else { return nil }
    let most = max(points.map(\.size).max() ?? 0, 1)
    let failed = points.count(where: \.hasFailed)
    let about =
      "\(points.count) runs from \(Self.day(points[0].startedAt)) to \(Self.day(points[points.count - 1].startedAt)); "
      + "the most \(noun): \(TextTable.grouped(most)); \(failed == 0 ? "none failed" : "\(failed) failed")."
    return """
      <svg class="runs" width="100%" height="\(Int(Self.height))" role="img" aria-labelledby="\(id)-title \(id)-about">
      <title id="\(id)-title">The last \(points.count) runs</title>
      <desc id="\(id)-about">\(about)</desc>
      <line class="base" x1="0" x2="100%" y1="\(Int(Self.bottom))" y2="\(Int(Self.bottom))"/>
      \(points.enumerated().map { bar($0, $1, most: most) })</svg>
      <p class="span"><span>\(Self.day(points[0].startedAt))</span>\
      <span>\(Self.day(points[points.count - 1].startedAt))</span></p>
      """
  }

  private func bar(_ index: Int, _ point: RunPoint, most: Int) -> Markup {
    let slot = 1 / Double(max(points.count, 12))
    let (x, width) = (ChartText.percent((Double(index) + 0.16) * slot), ChartText.percent(slot * 0.68))
    let full = (Self.bottom - Self.top) * Double(point.size) / Double(most)
    let height = point.size > 0 ? max(full, 2) : 0
    let refused = point.rejected > 0 ? max(height * Double(point.rejected) / Double(max(point.size, 1)), 2) : 0
    let isLast = index == points.count - 1
    let name =
      "\(Self.time(point.startedAt)): \(point.headline), \(TextTable.grouped(point.size)) \(noun)"
      + (point.rejected > 0 ? ", \(TextTable.grouped(point.rejected)) rejected" : "")
    let rejected: Markup? =
      refused > 0
      ? """
      <rect class="refused" x="\(x)" y="\(Self.pixels(Self.bottom - height))" width="\(width)" \
      height="\(Self.pixels(refused))"/>
      """ : nil
    let mark: Markup? =
      point.hasFailed
      ? """
      <svg x="\(ChartText.percent((Double(index) + 0.5) * slot))" y="71" overflow="visible">\
      <path class="failed" d="M-4 0L4 8M4 0L-4 8"/></svg>
      """ : nil
    return """
      <g><title>\(name)</title><rect class="hit" x="\(ChartText.percent(Double(index) * slot))" y="0" \
      width="\(ChartText.percent(slot))" height="\(Int(Self.height))"/>\
      <rect class="\(isLast ? "bar last" : "bar")" x="\(x)" y="\(Self.pixels(Self.bottom - height))" \
      width="\(width)" height="\(Self.pixels(height))"/>\(rejected)\(mark)</g>

      """
  }

  private static func pixels(_ value: Double) -> String { String((value * 100).rounded() / 100) }

  static func day(_ date: Date) -> String { String(date.ISO8601Format().prefix(10)) }

  /// 2026-11-21 06:00
  static func time(_ date: Date) -> String { date.ISO8601Format().prefix(16).replacingOccurrences(of: "T", with: " ") }
}
