import Foundation
import TestSupport
import Testing

/// An edit at a terminal: shown, asked about, and saved only on a yes.
@Suite struct JournalTerminalTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
  }

  /// Runs a command with standard input and standard error on a terminal of its own. At the question it runs a shell
  /// script, in which $PID is the command, then gives the answer. Prints the exit status, then what was on the terminal.
  private static let terminal = """
    import os, pty, subprocess, sys
    answer, script, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(arguments, stdin=theirs, stdout=open("out", "w"), stderr=theirs)
    os.close(theirs)
    seen, asked = b"", False
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
        if not asked and seen.endswith(b"[y/N] "):
            asked = True
            subprocess.run(["sh", "-c", script], check=True, env=dict(os.environ, PID=str(process.pid)))
            os.write(ours, answer.encode().decode("unicode_escape").encode())
    print(process.wait())
    sys.stdout.write(seen.decode().replace("\\r\\n", "\\n"))
    """

  private func ask(_ answer: String, meanwhile script: String = ":", _ edit: String...) throws -> (
    status: Int, seen: String
  ) {
    let arguments = [answer, script, Tool.url.path] + edit + ["--store", "s"]
    let output = try Programs.run("/usr/bin/env", ["python3", "-c", Self.terminal] + arguments, in: folder)
    try #require(output.status == 0, "\(output.messages)")
    let lines = output.text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    return (try #require(Int(lines[0])), String(lines[1]))
  }

  @Test(arguments: [#"y\n"#, #"yes\n"#, #" Y \n"#])
  func `A yes saves`(_ answer: String) throws {
    let (status, seen) = try ask(answer, "edit", "1", "--rating", "5")
    #expect(status == 0)
    #expect(seen.hasPrefix("entry 1\n  date      2014-07-14T07:30:00Z\n"))
    #expect(seen.contains("- rating    4\n+ rating    5\nSave? [y/N] "))
    #expect(try folder.text("out") == "1 changed\n")
    #expect(try Tool.run("list", "--store", "s", "--csv", in: folder).text.contains("Rincon,5\n"))
  }

  static let edits: [[String]] = [
    ["edit", "1", "--rating", "5"], ["add", "--rating", "5"], ["delete", "1", "2"],
  ]

  @Test(arguments: [#"n\n"#, #"\n"#, #"yet\n"#, #"\x04"#], edits)
  func `Anything else throws away, and no later export shows it`(_ answer: String, _ edit: [String]) throws {
    let (before, exported) = (try folder.data("s"), try Tool.run("export", "--store", "s", in: folder).bytes)
    let arguments = [answer, ":", Tool.url.path] + edit + ["--store", "s"]
    let output = try Programs.run("/usr/bin/env", ["python3", "-c", Self.terminal] + arguments, in: folder)
    #expect(output.text.hasPrefix("0\n"))
    let verb = edit[0] == "delete" ? "deleted" : "saved"
    #expect(output.text.hasSuffix("surfjournal: nothing was \(verb): as requested\n"), "\(output.text)")
    #expect(try folder.text("out").isEmpty)
    #expect(try folder.data("s") == before)
    #expect(try Tool.run("export", "--store", "s", in: folder).bytes == exported)
    #expect(try folder.names == ["log.csv", "out", "s"])
  }

  @Test func `What differs in nothing is not asked about`() throws {
    let (status, seen) = try ask("", "edit", "1", "--rating", "4")
    #expect(status == 0)
    #expect(seen == "surfjournal: nothing was saved: nothing differs\n")
  }

  @Test func `75: another program changes the entry while the question stands`() throws {
    let change = "'\(Tool.url.path)' edit 1 --wind Onshore --store s -y > meanwhile"
    let (status, seen) = try ask(#"y\n"#, meanwhile: change, "edit", "1", "--rating", "5")
    #expect(status == 75)
    #expect(seen.contains("entry 1 of s was changed by another program after it was read"), "\(seen)")
    let row = try Programs.sqlite("s", "SELECT ZWIND, ZRATING, Z_OPT FROM ZJOURNALENTRY WHERE Z_PK = 1", in: folder)
    #expect(row == "Onshore|4|2\n")
  }

  @Test func `An import may run while the question stands`() throws {
    try folder.write(Logs.header + "2016-01-01,1,1,Calm,Steamer Lane,2\n", to: "more.csv")
    let change = "'\(Tool.url.path)' import more.csv --store s > meanwhile"
    let (status, _) = try ask(#"y\n"#, meanwhile: change, "add", "--location", "Ocean Beach")
    #expect(status == 0)
    let rows = try Programs.sqlite("s", "SELECT Z_PK, ZLOCATION FROM ZJOURNALENTRY WHERE Z_PK > 2", in: folder)
    #expect(rows == "3|Steamer Lane\n4|Ocean Beach\n")
  }

  @Test(arguments: ["INT", "TERM", "HUP"])
  func `Who interrupts the question means no, and leaves nothing beside the store`(_ signal: String) throws {
    let before = try folder.data("s")
    let (status, seen) = try ask("", meanwhile: "kill -\(signal) $PID", "edit", "1", "--rating", "5")
    #expect(status == ["INT": -2, "TERM": -15, "HUP": -1][signal])
    #expect(seen.hasSuffix("Save? [y/N] "))
    #expect(try folder.data("s") == before)
    #expect(try folder.names == ["log.csv", "out", "s"])
  }

  @Test func `A saved edit survives the end of the process at once`() throws {
    let (status, _) = try ask(#"y\n"#, "delete", "1")
    #expect(status == 0)
    // In the file itself, without a log beside it.
    #expect(try folder.names == ["log.csv", "out", "s"])
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "1\n")
  }
}
