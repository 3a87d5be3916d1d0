import Foundation
import TestSupport
import Testing

/// The folder of a nightly import that `surfjournal init` makes.
@Suite struct InitCommandTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static let files = [
    "inbox", "nightly.json", "rejects", "reports", "units", "units/crontab", "units/surfjournal.logrotate",
    "units/surfjournal.path", "units/surfjournal.service", "units/surfjournal.timer",
  ]

  private func paths(in name: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path(name)).sorted()
  }

  @Test func `Everything is made, and the pipeline runs as it stands`() throws {
    let output = try Tool.run("init", "nightly", in: folder)
    #expect(output.status == 0)
    #expect(output.messages.isEmpty)
    #expect(try paths(in: "nightly") == Self.files)
    for file in Self.files where file != "units" { #expect(output.text.contains("  \(file)")) }
    #expect(try Tool.run("check", "nightly/nightly.json", in: folder).status == 0)
    try folder.write(Logs.two, to: "nightly/inbox/log.csv")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: folder.path("nightly/inbox/log.csv"))
    let run = try Tool.run("run", "nightly/nightly.json", "--quiet", in: folder)
    #expect(run.status == 0)
    #expect(run.messages.isEmpty && run.text.isEmpty)
    for report in ["index.html", "nightly.json", "nightly.prom"] { #expect(folder.exists("nightly/reports/\(report)")) }
    try folder.write(Logs.two, to: "nightly/inbox/fresh.csv")
    let early = try Tool.run("run", "nightly/nightly.json", "--dry-run", in: folder)
    #expect(early.text.contains("1 file of the inbox waits for a later run: it was changed less than 30 seconds ago"))
    #expect(try Tool.run("run", "nightly/nightly.json", "--quiet", in: folder).messages.isEmpty)
  }

  @Test func `A run makes the folders of its own output, and no others`() throws {
    _ = try Tool.run("init", "nightly", in: folder)
    for name in ["rejects", "reports"] { try FileManager.default.removeItem(at: folder.file("nightly/\(name)")) }
    try Logs.write(records: 9, to: "log.csv", in: folder)
    try folder.write(try folder.text("log.csv") + "2014-02-30,,,,,\n", to: "nightly/inbox/log.csv")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: folder.path("nightly/inbox/log.csv"))
    #expect(try Tool.run("check", "nightly/nightly.json", in: folder).text.contains("warning") == false)
    let run = try Tool.run("run", "nightly/nightly.json", in: folder)
    #expect(run.status == 65, "\(run.messages)")
    #expect(try paths(in: "nightly/rejects").count == 2)
    #expect(folder.exists("nightly/reports/index.html"))
    // One that is given for this run may be mistyped.
    #expect(try Tool.run("run", "nightly/nightly.json", "--report", "reprots/r.html", in: folder).status == 73)
    try FileManager.default.removeItem(at: folder.file("nightly/inbox"))
    #expect(try Tool.run("run", "nightly/nightly.json", in: folder).status == 66)
  }

  @Test func `What exists stays as it is`() throws {
    try folder.makeFolder("nightly/inbox")
    try folder.write("own", to: "nightly/nightly.json")
    try folder.makeFolder("elsewhere")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("nightly/rejects"), withDestinationPath: folder.path("elsewhere"))
    let output = try Tool.run("init", "nightly", in: folder)
    #expect(output.status == 0)
    #expect(output.text.contains("Kept as they were: inbox/, rejects/, nightly.json."))
    #expect(try folder.text("nightly/nightly.json") == "own")
    let again = try Tool.run("init", "nightly", in: folder)
    #expect(again.status == 0)
    #expect(again.text.contains("is complete; nothing was changed."))
    #expect(try folder.names == ["elsewhere", "nightly"])
  }

  @Test func `What a killed run left is made again`() throws {
    _ = try Tool.run("init", "nightly", in: folder)
    let pipeline = try folder.text("nightly/nightly.json")
    try folder.write("", to: "nightly/nightly.json")
    try folder.write("cut", to: "nightly/.nightly.json.0a1b.partial")
    let output = try Tool.run("init", "nightly", in: folder)
    #expect(output.status == 0)
    #expect(output.text.contains("  nightly.json\nKept as they were:"))
    #expect(try folder.text("nightly/nightly.json") == pipeline)
    #expect(try paths(in: "nightly") == Self.files)
  }

  @Test func `Mistakes and folders that can't be made`() throws {
    #expect(try Tool.run("init", in: folder).status == 64)
    #expect(try Tool.run("init", "a", "b", in: folder).status == 64)
    #expect(try Tool.run("init", "my nights", in: folder).status == 64)
    #expect(try Tool.run("init", "n", "--user", "a b", in: folder).status == 64)
    try folder.write("", to: "file")
    #expect(try Tool.run("init", "file/n", in: folder).status == 73)
    #expect(try Tool.run("init", "no/such/n", in: folder).status == 73)
    #expect(try folder.names == ["file"])
    try folder.makeFolder("n")
    try folder.write("", to: "n/inbox")
    #expect(try Tool.run("init", "n", in: folder).messages.contains("n/inbox is not a folder"))
  }

  /// The same units are installed as examples, for the folder and the user that they name.
  @Test func `The examples of the package are what init writes`() throws {
    _ = try Tool.run("init", "nightly", "--user", "surfjournal", in: folder)
    for name in ["crontab", "surfjournal.logrotate", "surfjournal.path", "surfjournal.service", "surfjournal.timer"] {
      let made = try folder.text("nightly/units/\(name)")
        .replacingOccurrences(of: folder.path("nightly"), with: "/var/lib/surfjournal")
        .replacingOccurrences(
          of: URL(fileURLWithPath: Tool.url.path).resolvingSymlinksInPath().path, with: "/usr/bin/surfjournal")
      let example = try String(contentsOf: Repository.file("Packaging/examples/\(name)"), encoding: .utf8)
      #expect(made == example, "\(name)")
    }
  }

  @Test(.enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0))
  func `systemd finds no mistake in the units`() throws {
    _ = try Tool.run("init", "nightly", "--user", "root", in: folder)
    let units = ["service", "timer", "path"].map { "nightly/units/surfjournal.\($0)" }
    let output = try Programs.run("/usr/bin/systemd-analyze", ["verify", "--man=no"] + units, in: folder)
    #expect(output.status == 0 && !output.messages.contains("surfjournal."), "\(output.messages)")
  }
}
