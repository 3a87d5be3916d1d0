import Foundation
import TestSupport
import Testing

extension TemporaryFolder {
  /// The SHA-256 of each file, as another program prints it.
  func hashes(_ names: [String]) throws -> String {
    try Programs.output(of: ["sha256sum"] + names, in: self)
  }
}

extension Repository {
  static let cleanLog = path("SampleData/surf-log.csv")
  static let cleanLogGzip = path("SampleData/surf-log.csv.gz")
  static let dirtyLog = path("SampleData/surf-log-dirty.csv")
}

/// Inputs that more than one suite reads.
enum Logs {
  static let header = "date,height,period,wind,location,rating\n"
  static let two =
    header + "2014-07-14T07:30:00Z,3.9,12,Glassy,Rincon,4\n7/15/14,Flat,,,\"Malibu, First Point\",\n"

  /// Imports two entries into `journal.sqlite`.
  static func importTwo(in folder: TemporaryFolder) throws {
    try folder.write(two, to: "log.csv")
    let made = try Tool.run("import", "log.csv", "--store", "journal.sqlite", in: folder)
    try #require(made.status == 0, "\(made.messages)")
  }

  /// As many good records, the place of the n-th being `Place n`.
  static func write(records: Int, to name: String, in folder: TemporaryFolder) throws {
    try Programs.python(
      """
      import sys
      with open(sys.argv[1], "w") as log:
          log.write("date,height,period,wind,location,rating\\n")
          log.writelines(f"2014-07-14T07:30:00Z,3.9,12,Glassy,Place {n},{n % 5 + 1}\\n" for n in range(1, \(records) + 1))
      """, name, in: folder)
  }
}
