import Foundation
import PipelineEngine
import TestSupport
import Testing

/// The manual's pages and the README: every command runs, and prints what the page shows. `make manual` writes what is
/// printed into the pages.
@Suite struct ManualTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static let program = Repository.path(".ci/manual")

  @Test func `Every command prints what its page shows, and every pipeline is accepted`() throws {
    let output = try Programs.run(Self.program, [Tool.url.path], in: folder)
    #expect(output.status == 0, "\(output.text)\(output.messages)")
  }

  /// A page that is wrong, and what is found.
  struct WrongPage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let text: String
    let found: String

    init(_ testDescription: String, _ text: String, finds found: String) {
      self.testDescription = testDescription
      self.text = text
      self.found = found
    }
  }

  static let wrongPages = [
    WrongPage("another output", "```console\n$ echo two\none\n```\n", finds: "'echo two' prints something else"),
    WrongPage("no output", "```console\n$ true\none\n```\n", finds: "'true' prints something else"),
    WrongPage("only an ellipsis", "```console\n$ echo two\n…\n```\n", finds: "nothing is shown"),
    WrongPage("a command that fails", "```sh\nfalse\ntrue\n```\n", finds: "'false' failed"),
    WrongPage("a hidden command that fails", "<!-- run: false -->\n", finds: "'false' failed"),
    WrongPage("a pipeline with a mistake", "```json\n{ \"name\": 1 }\n```\n", finds: "name"),
    WrongPage(
      "a part of a pipeline with a mistake",
      "<!-- wrap: { \"extends\": \"surf-log\", \"name\": \"a\", @ } -->\n\n```json\n\"kye\": \"date\"\n```\n",
      finds: "unknown key 'kye'"),
    WrongPage(
      "a word of eight letters", "```console\n$ echo deadbeef\nfeedface\n```\n",
      finds: "'echo deadbeef' prints something else"),
    WrongPage("a block that is not run", "```perl\nexit\n```\n", finds: "neither run nor known as data"),
    WrongPage("a command among data", "```text\n$ surfjournal list\n```\n", finds: "is not run"),
    WrongPage("a script that is not there", "<!-- elsewhere: .ci/none -->\n\n```sh\nreboot\n```\n", finds: ".ci/none"),
    WrongPage("a command in a sentence", "Say `surfjournal inport`.\n", finds: "unknown command 'inport'"),
    WrongPage("an option in a sentence", "Say `surfjournal list --all`.\n", finds: "has no option --all"),
  ]

  @Test(arguments: wrongPages)
  func `A page that is wrong is found`(_ page: WrongPage) throws {
    try folder.write(page.text, to: "page.md")
    let output = try Programs.run(Self.program, [Tool.url.path, "page.md"], in: folder)
    #expect(output.status == 1)
    #expect(output.text.contains(page.found), "\(output.text)\(output.messages)")
  }

  @Test func `What differs from run to run may differ, and files, status and home are those of a reader`() throws {
    let page = """
      `log.csv`:

      ```csv
      date,location,height,period,wind,rating
      2014-07-14,Rincon,1 m,9,NW,4
      ```

      ```console
      $ surfjournal import log.csv --store journal.sqlite
      surf-log: import clean

        input       log.csv  (… B, 1 record)
        store       ~/journal.sqlite
      …
        time        12.34 s, 1,234,567 records/s, peak memory 1.0 MB
        read        1
      …
      $ (exit 3)
      $ echo $?
      3
      $ ls /usr/share/doc/surfjournal/LICENSE
      /usr/share/doc/surfjournal/LICENSE
      $ printf 'decadeff  2026-11-26T08:00:00Z  undone\\nfeedface  2026-11-26T08:00:00Z  clean\\n'
      1234abcd  2026-11-27T09:10:11Z  undone
      cafebabe  2026-11-27T09:10:11Z  clean
      ```
      """
    try folder.write(page, to: "page.md")
    let output = try Programs.run(Self.program, [Tool.url.path, "page.md"], in: folder)
    #expect(output.status == 0, "\(output.text)\(output.messages)")
  }

  @Test func `Recording writes what is printed, and leaves out what the page left out`() throws {
    try folder.write("```console\n$ seq 5\n1\n…\n4\n$ echo two\n```\n", to: "page.md")
    let output = try Programs.run(Self.program, ["--write", Tool.url.path, "page.md"], in: folder)
    #expect(output.status == 0)
    #expect(try folder.text("page.md") == "```console\n$ seq 5\n1\n…\n5\n$ echo two\ntwo\n```\n")
  }

  @Test func `Every issue code has an entry`() throws {
    let page = try String(contentsOf: Repository.file("docs/manual/reference/issues.md"), encoding: .utf8)
    for code in IssueCode.all { #expect(page.contains("### `\(code)`\n"), "\(code)") }
  }

  @Test func `Every exit code has a line`() throws {
    let page = try String(contentsOf: Repository.file("docs/manual/reference/exit-codes.md"), encoding: .utf8)
    let reported = page.split(separator: "\n").compactMap { line in
      line.wholeMatch(of: /\| (\d+) \|.+\|.+\|/).flatMap { Int32($0.1) }
    }
    let codes: [ExitCode] = [
      .ok, .usage, .dataError, .noInput, .unavailable, .software, .cannotCreate, .ioError, .temporaryFailure,
      .noPermission, .configuration,
    ]
    #expect(reported == codes.map(\.rawValue))
  }
}
