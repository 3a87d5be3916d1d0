import Foundation
import Testing

/// A folder of a test's own, removed with it.
final class Scratch: Sendable {
  let root: URL

  init() throws {
    root = FileManager.default.temporaryDirectory.appendingPathComponent("CommandTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
  }

  deinit {
    // A test may have taken the permission to remove what is in it.
    for folder in (try? FileManager.default.subpathsOfDirectory(atPath: root.path)) ?? [] {
      try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path(folder))
    }
    try? FileManager.default.removeItem(at: root)
  }

  func url(_ name: String) -> URL { root.appendingPathComponent(name) }
  func path(_ name: String) -> String { url(name).path }

  func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: url(name)) }
  func data(_ name: String) throws -> Data { try Data(contentsOf: url(name)) }
  func text(_ name: String) throws -> String { String(decoding: try data(name), as: UTF8.self) }
  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  /// Everything in it, hidden files too, sorted.
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: root.path).sorted() }
  }

  /// Makes a folder in it.
  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(at: url(name), withIntermediateDirectories: true)
  }

  func setMode(_ mode: Int, of name: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
  }

  /// The SHA-256 of each file, told by another program.
  func hashes(_ names: [String]) throws -> String {
    let output = try Programs.run("/usr/bin/env", ["sha256sum"] + names, in: self)
    try #require(output.status == 0, "sha256sum: \(output.messages)")
    return output.text
  }
}

/// The repository that this file is part of.
enum Repository {
  /// Tests/CommandTests/Support/Scratch.swift → the package.
  static let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }

  static func path(_ name: String) -> String { root.appendingPathComponent(name).path }

  static let cleanLog = path("SampleData/surf-log.csv")
  static let cleanLogGzip = path("SampleData/surf-log.csv.gz")
  static let dirtyLog = path("SampleData/surf-log-dirty.csv")
}

/// Inputs that more than one suite reads.
enum Logs {
  static let header = "date,height,period,wind,location,rating\n"
  static let two =
    header + "2014-07-14T07:30:00Z,3.9,12,Glassy,Rincon,4\n7/15/14,Flat,,,\"Malibu, First Point\",\n"

  /// As many good records, the place of the n-th being `Place n`.
  static func write(records: Int, to name: String, in folder: Scratch) throws {
    try Programs.python(
      """
      import sys
      with open(sys.argv[1], "w") as log:
          log.write("date,height,period,wind,location,rating\\n")
          log.writelines(f"2014-07-14T07:30:00Z,3.9,12,Glassy,Place {n},{n % 5 + 1}\\n" for n in range(1, \(records) + 1))
      """, name, in: folder)
  }
}
