import Foundation
import TestSupport
import Testing

/// The options of a run by cron are refused where they make no sense, and every command that runs a pipeline has them.
@Suite struct CronOptionTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  static let mistakes: [(options: [String], message: String)] = [
    (["--log-level", "infos"], "--log-level is 'infos'; known are error, warning, info, debug; did you mean 'info'?"),
    (["--log-format", "xml"], "--log-format is 'xml'; known are text, json"),
    (["--timeout", "soon"], "--timeout is 'soon'; expected seconds, 0 to 86400"),
    (["--timeout", "-1"], "--timeout is '-1'; expected seconds, 0 to 86400"),
    (["--log"], "--log needs a value: --log FILE"),
  ]
  static let commands = [
    ["import", "log.csv", "--store", "s"], ["validate", "log.csv"], ["export", "--store", "s"],
    ["run", "surf-log", "--input", "log.csv", "--store", "s"],
    ["replay", "log.csv.rejects.csv", "--pipeline", "surf-log", "--store", "s"],
  ]

  @Test(arguments: mistakes, commands)
  func `A mistake is reported, with where to read more`(
    mistake: (options: [String], message: String), command: [String]
  ) throws {
    let output = try Programs.run(Tool.url.path, command + mistake.options, in: folder)
    #expect(output.status == 64)
    #expect(output.messages == "surfjournal: \(mistake.message)\nSee 'surfjournal help \(command[0])'.\n")
  }
}
