import CSV
import Foundation
import TestSupport

/// The values of one entry, as an input's record has them and as the store holds them.
struct Session: Hashable, CustomStringConvertible {
  /// A day, counted from 2001-01-01 in years of twelve months with 28 days.
  var day: Int
  var place: String?
  var rating: Int?

  var description: String { "\(date) \(place ?? "-") \(rating.map(String.init) ?? "-")" }

  var date: String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(2001 + day / 336)-\(two(day / 28 % 12 + 1))-\(two(day % 28 + 1))"
  }

  /// The day by its seconds since 2001-01-01 UTC, which is how a store keeps dates.
  static let dayOfSeconds: [Int: Int] = {
    var days: [Int: Int] = [:]
    for day in 0..<3360 {
      var time = tm()
      (time.tm_year, time.tm_mon, time.tm_mday) = (Int32(101 + day / 336), Int32(day / 28 % 12), Int32(day % 28 + 1))
      days[timegm(&time) - 978_307_200] = day
    }
    return days
  }()
}

/// A line of an input: a record that can be stored, or the text of one that can't.
enum Line: Hashable {
  case good(Session)
  case bad(String)

  func text(_ delimiter: String) -> String {
    switch self {
    case .good(let session):
      [session.date, session.place ?? "", session.rating.map(String.init) ?? ""].joined(separator: delimiter)
    case .bad(let text): text
    }
  }

  var session: Session? { if case .good(let session) = self { session } else { nil } }
}

/// The content of an input file: a header and lines.
struct InputText: Hashable {
  var lines: [Line]
  var endsWithLineEnd = true
  let delimiter: String
  let lineEnd: String

  var header: String { ["date", "location", "rating"].joined(separator: delimiter) }

  var bytes: [UInt8] { prefix(lines.count) }

  /// The header and the first records, as far as a run that ended behind them has read.
  func prefix(_ count: Int) -> [UInt8] {
    var text = header + lineEnd
    for (index, line) in lines.prefix(count).enumerated() {
      text += line.text(delimiter)
      if index + 1 < lines.count || endsWithLineEnd { text += lineEnd }
    }
    return Array(text.utf8)
  }

  /// Writes the file; a name that ends in `.gz` is compressed.
  func write(_ path: String) throws {
    guard path.hasSuffix(".gz") else {
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      return
    }
    let sink = try ByteSink(path: path, compression: .gzip)
    try sink.write(bytes)
    try sink.commit()
  }
}

extension SeededGenerator {
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

  mutating func isOne(in count: Int) -> Bool { number(1...count) == 1 }

  mutating func pick<Element>(_ all: [Element], else other: Element) -> Element {
    all.randomElement(using: &self) ?? other
  }

  mutating func line(_ pipeline: SimulatedPipeline) -> Line {
    let days = pipeline.key.isEmpty ? 2999 : 39
    let place = number(0...5)
    let rating = number(0...5)
    let session = Session(
      day: number(0...days), place: place == 0 ? nil : "P\(place)", rating: rating == 0 ? nil : rating)
    guard isOne(in: pipeline.badOneIn) else { return .good(session) }
    let delimiter = pipeline.delimiter
    return .bad(
      pick(
        ["soon\(delimiter)P1\(delimiter)3", "\(session.date)\(delimiter)P1\(delimiter)9", session.date], else: "soon"))
  }

  mutating func text(_ pipeline: SimulatedPipeline) -> InputText {
    let count = isOne(in: 12) ? 0 : number(1...pipeline.linesMax)
    var lines: [Line] = []
    for _ in 0..<count { lines.append(isOne(in: 10) && !lines.isEmpty ? pick(lines, else: lines[0]) : line(pipeline)) }
    return InputText(
      lines: lines, endsWithLineEnd: lines.isEmpty || !isOne(in: 8), delimiter: pipeline.delimiter,
      lineEnd: pipeline.lineEnd)
  }

  /// What a person makes of a file before it comes again: corrected, appended to, cut short, or left alone.
  mutating func changed(_ old: InputText, _ pipeline: SimulatedPipeline) -> InputText {
    var text = old
    switch number(0...6) {
    case 0, 1:
      for _ in 0...number(0...2) {
        guard let index = text.lines.indices.randomElement(using: &self) else { break }
        text.lines[index] = line(pipeline)
      }
    case 2, 3:
      text.endsWithLineEnd = true
      for _ in 0...number(0...5) { text.lines.append(line(pipeline)) }
    case 4: text.lines.removeLast(number(0...text.lines.count))
    case 5: text.lines.shuffle(using: &self)
    default: break
    }
    if text.lines.isEmpty { text.endsWithLineEnd = true }
    return text
  }
}
