import Foundation

/// The logs that are read. Those that can be kept are made once.
struct Inputs {
  let plain: String
  let gzip: String
  let small: String
  let rows: Int
  static let smallRows = 100

  init(_ options: Options, _ place: Workplace) throws {
    if let input = options.input {
      plain = URL(filePath: input).path
      gzip = place.output("input.csv.gz")
    } else {
      plain = place.input("log-\(InputGenerator.version)-\(options.rows).csv")
      gzip = plain + ".gz"
      try Self.make(plain, rows: options.rows)
    }
    small = place.input("log-\(InputGenerator.version)-\(Self.smallRows).csv")
    try Self.make(small, rows: Self.smallRows)
    if !FileManager.default.fileExists(atPath: gzip) {
      try Tool.run(["sh", "-c", "gzip -6 -n -c \"$1\" > \"$2.part\" && mv \"$2.part\" \"$2\"", "sh", plain, gzip])
    }
    rows = try Self.recordCount(plain, place)
  }

  private static func make(_ path: String, rows: Int) throws {
    if !FileManager.default.fileExists(atPath: path) { try InputGenerator.write(rows: rows, to: path) }
  }

  private static func recordCount(_ path: String, _ place: Workplace) throws -> Int {
    let words = try Tool.run([place.program("limit"), "check", path]).split(whereSeparator: { " ,".contains($0) })
    guard words.count == 4, let good = Int(words[1]), words[3] == "0" else {
      throw BenchmarkFailure("\(path) holds records that an import would reject; only clean logs are measured")
    }
    return good
  }
}
