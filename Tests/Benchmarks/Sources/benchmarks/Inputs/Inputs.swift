import Foundation

/// The logs that are read. Those that can be kept are made once.
struct Inputs {
  let plain: String
  let gzip: String
  let small: String
  let rows: Int
  static let smallRows = 100

  init(_ options: Options, _ folder: BenchmarkFolder) throws {
    if let input = options.input {
      plain = URL(filePath: input).path
      gzip = folder.output("input.csv.gz")
      try Self.compress(plain, to: gzip)
    } else {
      plain = try Self.log(rows: options.rows, folder)
      gzip = try Self.gzip(of: plain)
    }
    small = try Self.log(rows: Self.smallRows, folder)
    rows = try Self.recordCount(plain, folder)
  }

  static func log(rows: Int, _ folder: BenchmarkFolder) throws -> String {
    let path = folder.input("log-\(InputGenerator.version)-\(rows).csv")
    if !FileManager.default.fileExists(atPath: path) { try InputGenerator.write(rows: rows, to: path) }
    return path
  }

  /// The gzip file of a log that is kept.
  static func gzip(of log: String) throws -> String {
    let path = log + ".gz"
    if !FileManager.default.fileExists(atPath: path) { try compress(log, to: path) }
    return path
  }

  private static func compress(_ log: String, to path: String) throws {
    try Tool.run(["sh", "-c", "gzip -6 -n -c \"$1\" > \"$2.part\" && mv \"$2.part\" \"$2\"", "sh", log, path])
  }

  /// Another log of the same make; every other record, as it falls, has date and place of one of `log`.
  static func repeating(rows: Int, _ folder: BenchmarkFolder) throws -> String {
    let path = folder.input("log-\(InputGenerator.version)-\(rows)-repeating.csv")
    if !FileManager.default.fileExists(atPath: path) { try InputGenerator.write(repeating: rows, to: path) }
    return path
  }

  /// A log with many places.
  static func log(rows: Int, spots: Int, _ folder: BenchmarkFolder) throws -> String {
    let path = folder.input("log-\(InputGenerator.version)-\(rows)-of-\(spots)-spots.csv")
    if !FileManager.default.fileExists(atPath: path) {
      try InputGenerator.write(rows: rows, spots: spots, to: path)
    }
    return path
  }

  private static func recordCount(_ path: String, _ folder: BenchmarkFolder) throws -> Int {
    let words = try Tool.run([folder.program("limit"), "check", path]).split(whereSeparator: { " ,".contains($0) })
    guard words.count == 4, let good = Int(words[1]), words[3] == "0" else {
      throw BenchmarkFailure("\(path) holds records that an import would reject; only clean logs are measured")
    }
    return good
  }
}
