import Foundation
import PipelineEngine
import SurfJournal
import TestSupport
import Testing

/// What the manual's page on cron shows works as it stands there.
@Suite struct CronArticleTests {
  private static let home = "/var/lib/surfjournal"

  private let folder: TemporaryFolder
  private let article: String
  init() throws {
    folder = try TemporaryFolder()
    let path = Repository.path("docs/manual/howto/cron.md")
    article = try String(contentsOfFile: path, encoding: .utf8)
  }

  /// The text of the article's one block in a language.
  private func block(_ language: String) throws -> String {
    let parts = article.components(separatedBy: "```\(language)\n")
    try #require(parts.count == 2, "one block of \(language)")
    return try #require(parts[1].components(separatedBy: "```").first)
  }

  private static func has(_ program: String) -> Bool {
    ["/usr/bin", "/usr/sbin", "/bin", "/sbin"].contains { access("\($0)/\(program)", X_OK) == 0 }
  }

  @Test func `The pipeline is a definition without a mistake`() throws {
    let definition = try PipelineDefinition(
      data: Data(try block("json").utf8), environment: DefinitionEnvironment(vocabulary: .journal))
    #expect(definition.inbox?.folder == "inbox")
    #expect(definition.timeoutSeconds == 7200)
  }

  // MARK: The crontab

  private struct CronLine {
    let settings: [String]
    let fields: [Substring]
    let command: String
  }

  private func crontab() throws -> CronLine {
    let lines = try block("crontab").split(separator: "\n")
    let job = try #require(lines.last).split(separator: " ", maxSplits: 5)
    try #require(job.count == 6)
    return CronLine(
      settings: lines.dropLast().map(String.init), fields: Array(job[..<5]), command: String(job[5]))
  }

  @Test func `The crontab's line is a time and a command that a shell reads`() throws {
    let line = try crontab()
    #expect(line.fields.allSatisfy { $0.allSatisfy { $0.isNumber || "*/,-".contains($0) } })
    #expect(!line.command.contains("%"), "cron ends the command there")
    #expect(line.settings.allSatisfy { $0.contains("=") && !$0.contains("$") }, "cron expands nothing")
    let output = try Programs.run("/bin/sh", ["-n", "-c", line.command], in: folder)
    #expect(output.status == 0, "\(output.messages)")
  }

  /// Runs the command as cron does, with /bin/sh and next to no environment, on the article's own pipeline.
  private func runAsCron(_ log: String) throws -> ProgramOutput {
    try folder.write(try block("json"), to: "nightly.json")
    for name in ["inbox", "rejects"] { try folder.makeFolder(name) }
    try folder.write(log, to: "inbox/log.csv")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: folder.path("inbox/log.csv"))
    try folder.makeFolder("bin")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("bin/surfjournal"), withDestinationPath: Tool.url.path)
    let line = try crontab()
    let path = try #require(line.settings.first { $0.hasPrefix("PATH=") })
      .replacingOccurrences(of: "/usr/local/bin", with: folder.path("bin"))
    let command = line.command.replacingOccurrences(of: Self.home, with: folder.url.path)
    let environment = ["HOME=\(folder.url.path)", "LOGNAME=surfer", "SHELL=/bin/sh", path]
    return try Programs.run(
      "/usr/bin/env", EmptyEnvironment.arguments(environment) + ["/bin/sh", "-c", command], in: folder)
  }

  @Test func `As cron runs it, a clean night says nothing`() throws {
    let output = try runAsCron(Logs.header + "2014-07-14T07:30:00Z,3.9,12,Glassy,Rincon,4\n")
    #expect(output.status == 0)
    #expect(output.text == "")
    #expect(output.messages == "")
    let rows = try Programs.sqlite("journal.sqlite", "SELECT count(*) FROM ZJOURNALENTRY", in: folder)
    #expect(rows == "1\n")
    #expect(try moved("processed") == ["log.csv"])
    #expect(try folder.text("run.log").contains("import completed, exit status 0: 1 read, 1 inserted"))
    #expect(try folder.text("reports/index.html").contains("1 run, all without an error."))
    #expect(!folder.exists("journal.sqlite.lock"))
  }

  @Test func `As cron runs it, a rejected record makes a mail`() throws {
    let output = try runAsCron(Logs.header + "2014-07-14T07:30:00Z,3.9,12,Glassy,Rincon,9\n")
    #expect(output.status == 65)
    #expect(output.text.contains("nightly"))
    #expect(output.text.contains("constraint-error"))
  }

  /// What is in the one day's folder of `processed` or `failed`.
  private func moved(_ outcome: String) throws -> [String] {
    let days = try FileManager.default.contentsOfDirectory(atPath: folder.path("inbox/\(outcome)"))
    try #require(days.count == 1)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path("inbox/\(outcome)/\(days[0])"))
  }

  // MARK: Other programs' files

  @Test(.enabled(if: has("systemd-analyze"), "needs systemd-analyze"))
  func `systemd finds nothing wrong with the service and the timer`() throws {
    // The program's place is the reader's; everything else is as it stands there.
    let service = try block("systemd-service")
      .replacingOccurrences(of: "/usr/local/bin/surfjournal", with: Tool.url.path)
    try folder.write(service, to: "surfjournal.service")
    try folder.write(try block("systemd-timer"), to: "surfjournal.timer")
    let units = ["surfjournal.service", "surfjournal.timer"].map(folder.path)
    let output = try Programs.run(
      "/usr/bin/env", ["systemd-analyze", "--man=no", "--recursive-errors=one", "verify"] + units, in: folder)
    #expect(output.status == 0)
    #expect(output.text + output.messages == "")
    // The proof that it looks: a key that there is not.
    try folder.write(service.replacingOccurrences(of: "KillSignal=", with: "KillSignals="), to: "surfjournal.service")
    let refusal = try Programs.run(
      "/usr/bin/env", ["systemd-analyze", "--man=no", "verify", units[0]], in: folder)
    #expect(refusal.messages.contains("KillSignals"))
  }

  @Test(.enabled(if: has("logrotate"), "needs logrotate"))
  func `logrotate finds nothing wrong with its file`() throws {
    let owner = try Programs.run("/bin/sh", ["-c", "echo \"$(id -un) $(id -gn)\""], in: folder).text
    let text = try block("logrotate")
      .replacingOccurrences(of: Self.home, with: folder.url.path)
      .replacingOccurrences(of: "surfjournal surfjournal\n", with: owner)
    try folder.write(text, to: "rotation")
    try folder.setMode(0o644, of: "rotation")
    try folder.write("a line\n", to: "run.log")
    let output = try Programs.run(
      "/bin/sh", ["-c", "PATH=$PATH:/usr/sbin logrotate --force --verbose --state state rotation"], in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(!output.messages.contains("error"), "\(output.messages)")
    #expect(try folder.text("run.log.1") == "a line\n")
    #expect(!folder.exists("run.log"))
  }
}
