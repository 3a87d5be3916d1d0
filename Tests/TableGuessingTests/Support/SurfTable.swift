/// A table that all files of the corpus are made from, the same in every run.
struct SurfTable {
  var header = ["Date", "Time", "Spot", "Height", "Period", "Wind", "Rating", "URL", "Comments"]
  var rows: [[String]] = []

  private static let spots = [
    "Rincon", "Steamer Lane", "Mundaka", "Hossegor", "Uluwatu", "Bells Beach", "C Street, Ventura", "Trestles",
  ]
  private static let winds = ["offshore", "onshore", "glassy", "NW 12 kn", "SE 3 kn", "cross-shore", "light, offshore"]
  private static let comments = [
    "crowded", "", "with Ann", "new board; fast", "the \"Green Room\", at last", "cold", "", "early, alone",
    "it's been a while", "tide: low",
  ]

  init(rows count: Int = 84) {
    var state: UInt64 = 20_140_714
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    var (day, month, year) = (3, 4, 2014)
    for _ in 0..<count {
      day += 1 + next(6)
      if day > 28 { (day, month) = (day - 28, month + 1) }
      if month > 12 { (month, year) = (1, year + 1) }
      rows.append([
        "\(month)/\(day)/\(year)", "\(6 + next(12)):\(["00", "15", "30", "45"][next(4)])", Self.spots[next(8)],
        "\(1 + next(4)).\(next(10)) m", "\(6 + next(12)) s", Self.winds[next(7)], "\(1 + next(5))",
        "https://example.org/s/\(next(1000))", Self.comments[next(10)],
      ])
    }
  }
}

/// How a table is written, and so what a guess should say of it.
struct TableForm: Sendable, Hashable {
  var delimiter = ","
  var quote: Character = "\""
  /// Nil for doubled quotes.
  var escape: Character?
  var lineEnd = "\r\n"
  var quotesAll = false
  var skipsInitialSpace = false
  var skipRows = 0
  var headerRows = 1
  var footer = "none"
  var comment: String?

  func line(_ fields: [String]) -> String { fields.map(field).joined(separator: separator) + lineEnd }

  private var separator: String { skipsInitialSpace ? delimiter + " " : delimiter }

  private func field(_ text: String) -> String {
    let signs = [separator, delimiter, String(quote), "\n", "\r", "\""]
    let needsQuotes = signs.contains { text.contains($0) } || (delimiter == " " && text.isEmpty)
    guard quotesAll || needsQuotes else { return text }
    let mark = escape.map(String.init) ?? String(quote)
    return "\(quote)\(text.replacing(String(quote), with: mark + String(quote)))\(quote)"
  }

  func text(_ table: SurfTable, above: String = "", below: String = "") -> String {
    above + (headerRows > 0 ? line(table.header) : "") + table.rows.map(line).joined() + below
  }
}
