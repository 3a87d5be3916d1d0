import Foundation
import TestSupport
import Testing

/// What a pipeline notifies of its runs, by real runs, a real server and a program in place of sendmail.
@Suite struct NotifyTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// A proxy of the machine must not get requests to a local server.
  static let environment = ["NO_PROXY": "*", "no_proxy": "*"]
  static let good = Logs.header + "2014-07-14T07:30:00Z,3.9,12,Glassy,Rincon,4\n"
  static let bad = Logs.header + "2014-07-14T07:30:00Z,3.9,12,Glassy,Rincon,9\n"

  /// Writes a pipeline with the text of its `notify`.
  private func pipeline(_ notify: String, _ more: String = "") throws {
    try folder.write(
      #"""
      { "extends": "surf-log", "name": "nightly", "source": "log.csv", "store": "journal.sqlite", "rejects": "rejects/",
        "columns": [{ "name": "date", "required": true }, "height", "period", "wind", "location",
          { "name": "rating", "rules": [{ "rule": "range", "min": 1, "max": 5 }] }],
        "report": ["reports/{run}.html", "report.json"], "log": "run.log",
        "notify": \#(notify)\#(more) }
      """#, to: "nightly.json")
  }

  @discardableResult
  private func run(_ log: String, _ options: String..., environment: [String: String] = [:]) throws -> ProgramOutput {
    try folder.write(log, to: "log.csv")
    return try Programs.run(
      Tool.url.path, ["run", "nightly.json", "--quiet"] + options, in: folder,
      environment: Self.environment.merging(environment) { $1 })
  }

  /// The settings of a request that is repeated at once.
  private static let quick = #""retrySeconds": 0, "retries": 2"#

  // MARK: Events

  @Test func `A failure, the recovery and nothing else are notified by default`() throws {
    let server = try WebServer(in: folder)
    try pipeline(#"{ "webhooks": [{ "url": "\#(server.address)/hook" }] }"#)
    #expect(try run(Self.good).status == 0)
    #expect(try server.requests.isEmpty)
    #expect(try run(Self.bad).status == 65)
    #expect(try server.requests.map { $0.object["event"] as? String } == ["failure"])
    #expect(try run(Self.bad + "2014-07-16T07:30:00Z,3.9,12,Glassy,Rincon,3\n", "--only-new").status == 65)
    // What had nothing to do does not say that all is well again.
    #expect(try run(Self.good).status == 0)
    #expect(try server.requests.count == 2)
    #expect(try run(Self.good + "2014-07-17T07:30:00Z,3.9,12,Glassy,Rincon,3\n", "--only-new").status == 0)
    let last = try #require(try server.requests.last)
    #expect(last.object["event"] as? String == "recovery")
    #expect((last.object["text"] as? String)?.contains("had failed (Done, 1 error)") == true)
    #expect(try server.requests.count == 3)
  }

  @Test func `A changed header and an expectation that is not met are drift`() throws {
    let server = try WebServer(in: folder)
    try pipeline(
      #"{ "on": "drift", "webhooks": [{ "url": "\#(server.address)/hook" }] }"#,
      #", "changedInputs": "onlyNew", "expect": { "records": { "max": 2, "severity": "warning" } }"#)
    try run(Self.good)
    #expect(try server.requests.isEmpty)
    try run("date,height,period,wind,location\n2014-07-18T07:30:00Z,3.9,12,Glassy,Rincon\n")
    #expect(try server.requests.map { $0.object["event"] as? String } == ["drift"])
    let days = (1...3).map { "2014-08-0\($0)T07:30:00Z,3.9,12,Glassy,Rincon\n" }.joined()
    try run("date,height,period,wind,location\n" + days)
    #expect(try server.requests.count == 2)
    let subject = try server.requests.last?.object["subject"] as? String
    #expect(subject == "nightly: import: the data have changed: Clean, 2 warnings")
  }

  @Test func `A pipeline that can't run at all is notified as a failure`() throws {
    let server = try WebServer(in: folder)
    try pipeline(#"{ "webhooks": [{ "url": "\#(server.address)/hook" }] }"#, #", "charts": ["wind", "nothing"]"#)
    let text = try folder.text("nightly.json").replacingOccurrences(
      of: #""charts": ["wind", "nothing"]"#, with: #""model": "gone.mom""#)
    try folder.write(text, to: "nightly.json")
    #expect(try run(Self.good).status != 0)
    #expect(try server.requests.map { $0.object["event"] as? String } == ["failure"])
  }

  @Test func `A dry run by hand, a replay and a run with --no-notify notify nothing`() throws {
    let server = try WebServer(in: folder)
    try pipeline(#"{ "on": "always", "webhooks": [{ "url": "\#(server.address)/hook" }] }"#)
    try run(Self.bad, "--dry-run")
    try run(Self.bad, "--no-notify")
    let rejects = try #require(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("rejects")).first { $0.hasSuffix(".csv") })
    let text = try folder.text("rejects/\(rejects)").replacingOccurrences(of: ",9\n", with: ",5\n")
    try folder.write(text, to: "rejects/\(rejects)")
    let replay = try Tool.run("replay", "rejects/\(rejects)", in: folder, environment: Self.environment)
    #expect(replay.status == 0, "\(replay.messages)")
    #expect(try server.requests.isEmpty)
    #expect(try run(Self.good + "2014-07-17T07:30:00Z,3.9,12,Glassy,Rincon,3\n", "--only-new").status == 0)
    #expect(try server.requests.count == 1)
  }

  // MARK: Webhooks

  @Test func `A webhook gets an object by POST, with the headers that it needs`() throws {
    let server = try WebServer(in: folder)
    try folder.write("s3cret-t0ken\n", to: "token")
    try pipeline(
      #"""
      { "webhooks": [{ "url": "${HOOK}", "headers": [{ "name": "Authorization", "value": { "file": "token" } }] }] }
      """#)
    let output = try run(Self.bad, environment: ["HOOK": server.address + "/hook?key=k3y-0f-h00k"])
    #expect(output.status == 65)
    let request = try #require(try server.requests.first)
    #expect(request.method == "POST" && request.path == "/hook?key=k3y-0f-h00k")
    #expect(request.headers["authorization"] == "s3cret-t0ken")
    #expect(request.headers["content-type"] == "application/json")
    #expect(request.headers["user-agent"] == "surfjournal")
    let summary = try #require(request.object["summary"] as? [String: Any])
    #expect((summary["counts"] as? [String: Any])?["rejected"] as? Int == 1)
    #expect(request.object["exitCode"] as? Int == 65)
    #expect((request.object["reports"] as? [String])?.count == 2)
    #expect(request.headers["idempotency-key"] == "\(try #require(summary["run"] as? String))-failure")
  }

  @Test(arguments: [(500, 3), (429, 3), (0, 3), (404, 1), (302, 1)])
  func `An answer that may change is asked for again, and another one is not`(_ answer: Int, _ count: Int) throws {
    let server = try WebServer(in: folder, answers: [answer])
    try pipeline(#"{ "webhooks": [{ "url": "\#(server.address)/hook", \#(Self.quick) }] }"#)
    let output = try run(Self.bad)
    #expect(output.status == 65, "the result is that of the run")
    #expect(try server.requests.count == count)
    #expect(output.messages.contains("a notification was not delivered: notify.webhooks[0]: "))
    #expect(answer == 0 || output.messages.contains("status \(answer)"))
    #expect(try folder.text("run.log").contains("not notified: notify.webhooks[0]: "))
    let report = try JSONSerialization.jsonObject(with: try folder.data("report.json")) as? [String: Any]
    #expect((report?["undelivered"] as? [String])?.count == 1)
    #expect(report?["exitCode"] as? Int == 65)
    let page = try #require(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("reports")).first {
        $0.hasSuffix(".html") && $0 != "index.html"
      })
    #expect(try folder.text("reports/\(page)").contains("Not notified"))
  }

  @Test func `A second attempt that is answered delivers`() throws {
    let server = try WebServer(in: folder, answers: [503, 0, 200])
    try pipeline(#"{ "webhooks": [{ "url": "\#(server.address)/hook", \#(Self.quick) }] }"#)
    let output = try run(Self.bad)
    #expect(!output.messages.contains("was not delivered"))
    #expect(try server.requests.count == 3)
    #expect(try folder.text("run.log").contains("notified: notify.webhooks[0]"))
  }

  @Test func `An address that refuses connections, one that is unknown and one that does not answer are said`() throws {
    let server = try WebServer(in: folder, answers: [-1])
    let closed = try WebServer(in: folder)
    closed.stop()
    try pipeline(
      #"""
      { "webhooks": [
        { "url": "\#(closed.address)/hook/t0ken-in-path", "retries": 0 },
        { "url": "http://nowhere.invalid/t0ken-in-path", "retries": 0 },
        { "url": "\#(server.address)/t0ken-in-path", "retries": 0, "timeoutSeconds": 0.2 },
        { "url": { "file": "gone" } } ] }
      """#)
    let output = try run(Self.bad)
    #expect(output.status == 65)
    let said = output.messages.split(separator: "\n").filter { $0.contains("was not delivered") }
    #expect(said.count == 4)
    #expect(said.count { $0.contains("no answer: ") } == 3, "\(output.messages)")
    #expect(said.contains { $0.contains("gone can't be read") })
    #expect(!output.messages.contains("t0ken-in-path"))
  }

  @Test func `The password of a store's address is not shown where a pipeline names the store`() throws {
    try folder.write(Self.good, to: "log.csv")
    try folder.write(
      #"""
      { "extends": "surf-log", "name": "nightly", "source": "log.csv",
        "store": "postgresql://surf:sesame@127.0.0.1:1/journal", "notify": { "commands": [{ "run": "true" }] } }
      """#, to: "nightly.json")
    for command in ["check", "run"] {
      let output = try Tool.run(command, "nightly.json", in: folder)
      let said = output.messages + output.text
      #expect(said.contains("surf@127.0.0.1") && !said.contains("sesame"), "\(said)")
      #expect(!said.contains("does not exist") && !said.contains("index of runs"), "\(said)")
    }
  }

  // MARK: The ping

  @Test func `A ping is called at the start and at the end, well or not`() throws {
    let server = try WebServer(in: folder)
    try pipeline(#"{ "ping": "\#(server.address)/check/abc?x=1" }"#)
    try run(Self.good)
    #expect(try server.requests.map(\.path) == ["/check/abc/start?x=1", "/check/abc?x=1"])
    try run(Self.bad, "--only-new")
    #expect(try server.requests.map(\.path).dropFirst(2) == ["/check/abc/start?x=1", "/check/abc/fail?x=1"])
    #expect(try server.requests.last?.body.contains("constraint-error") == true)
    // It had nothing to do, and it ran.
    try run(Self.good)
    #expect(try server.requests.map(\.path).last == "/check/abc?x=1")
  }

  // MARK: Commands and mails

  @Test func `A command gets the summary and the facts, and no shell reads its words`() throws {
    try folder.write("#!/bin/sh\ncat >said; env >facts; printf '%s\\n' \"$@\" >words\n", to: "tell.sh")
    try folder.setMode(0o755, of: "tell.sh")
    try folder.write("s3cret-t0ken\n", to: "token")
    try pipeline(
      #"""
      { "commands": [{ "run": ["./tell.sh", "$(id) `id` ;", "*"],
        "environment": [{ "name": "TOKEN", "value": { "file": "token" } }] }] }
      """#)
    let output = try run(Self.bad)
    #expect(output.messages.isEmpty, "\(output.messages)")
    #expect(try folder.text("said").hasPrefix("nightly: import done, 1 error\n"))
    #expect(try folder.text("words") == "$(id) `id` ;\n*\n")
    let facts = try folder.text("facts").split(separator: "\n")
    for fact in [
      "SURFJOURNAL_EVENT=failure", "SURFJOURNAL_PIPELINE=nightly", "SURFJOURNAL_EXIT_CODE=65", "SURFJOURNAL_READ=1",
      "SURFJOURNAL_REJECTED=1", "SURFJOURNAL_OUTCOME=completed", "TOKEN=s3cret-t0ken",
    ] {
      #expect(facts.contains { $0 == fact }, "\(fact)")
    }
  }

  @Test func `A command that fails, takes too long or does not exist is said`() throws {
    try pipeline(
      #"""
      { "commands": [
        { "run": ["sh", "-c", "echo the printer is on fire >&2; exit 3"] },
        { "run": ["sh", "-c", "trap '' TERM; sleep 30 & wait; sleep 30"], "timeoutSeconds": 0.2 },
        { "run": "no-such-program-anywhere" }, { "run": "./gone" } ] }
      """#)
    let output = try run(Self.bad)
    #expect(output.status == 65)
    for text in [
      "sh ended with the status 3: the printer is on fire", "did not end within 0.2 s",
      "the program 'no-such-program-anywhere' was not found in PATH",
      "the program \(folder.path("gone")) does not exist",
    ] {
      #expect(output.messages.contains(text), "\(text): \(output.messages)")
    }
  }

  @Test func `No part of a secret is shown, and not the beginning of one where a long line is cut`() throws {
    try folder.write("Bearer s3cret-t0ken\n", to: "token")
    try folder.write("https://example.org/hook/t0ken-in-path?key=k3y-0f-h00k\n", to: "address")
    let environment =
      #""environment": [{ "name": "TOKEN", "value": { "file": "token" } }, { "name": "A", "value": { "file": "address" } }]"#
    try pipeline(
      #"""
      { "commands": [
        { "run": ["sh", "-c", "set -- $TOKEN; echo one $2 >&2; exit 3"], \#(environment) },
        { "run": ["sh", "-c", "echo two $(echo $A | cut -d/ -f4-) >&2; exit 3"], \#(environment) },
        { "run": ["sh", "-c", "echo three $(echo $A | cut -d= -f2) >&2; exit 3"], \#(environment) },
        { "run": ["sh", "-c", "set -- $TOKEN; printf 'four%1010s %s' - $2 >&2; exit 3"], \#(environment) } ] }
      """#)
    let output = try run(Self.bad)
    #expect(output.status == 65)
    let said = output.messages
    for word in ["one •••", "two •••", "three •••", "four "] { #expect(said.contains(word), "\(said)") }
    for word in ["s3cret", "t0ken-in-path", "k3y-0f-h00k"] { #expect(!said.contains(word), "\(said)") }
  }

  @Test func `A mail goes to sendmail, complete and in plain ASCII`() throws {
    try folder.write("#!/bin/sh\nprintf '%s\\n' \"$@\" >words; cat >mail\n", to: "sendmail")
    try folder.setMode(0o755, of: "sendmail")
    try pipeline(
      #"""
      { "mails": [{ "to": ["surfer@example.org", "root"], "from": "journal@example.org",
        "sendmail": ["./sendmail", "-i", "-t"] }] }
      """#)
    try run(Logs.header + "2014-07-14T07:30:00Z,3.9,12,Glassy,Köln,9\n")
    #expect(try folder.text("words") == "-i\n-t\n")
    let parsed = try Programs.python(
      """
      import email, email.policy
      bytes = open("mail", "rb").read()
      assert max(bytes) < 128 and max(map(len, bytes.split(b"\\n"))) <= 76
      mail = email.message_from_bytes(bytes, policy=email.policy.default)
      for name in ["From", "To", "Subject", "Auto-Submitted"]: print(name + ":", mail[name])
      print(mail.get_content())
      """, in: folder)
    #expect(parsed.contains("From: journal@example.org\nTo: surfer@example.org, root\n"))
    #expect(parsed.contains("Subject: nightly: import: Done, 1 error\nAuto-Submitted: auto-generated\n"))
    #expect(parsed.contains("constraint-error") && parsed.contains("reports/"))
  }

  // MARK: Secrets

  @Test func `No secret reaches a report, a log, a message, the explanation or the list of processes`() throws {
    let server = try WebServer(in: folder, answers: [500])
    let secrets = ["k3y-0f-h00k", "s3cret-t0ken", "p1ng-uu1d", "v4lue-of-env"]
    try folder.write(secrets[1], to: "token")
    try folder.write("#!/bin/sh\nps -eo args >processes; echo \"it was $TOKEN\" >&2; exit 1\n", to: "tell.sh")
    try folder.setMode(0o755, of: "tell.sh")
    try pipeline(
      #"""
      { "on": "always", "webhooks": [{ "url": "\#(server.address)/${HOOK}", "retries": 0,
          "headers": [{ "name": "X-Token", "value": { "file": "token" } }] }],
        "ping": { "url": "\#(server.address)/\#(secrets[2])", "retries": 0 },
        "commands": [{ "run": "./tell.sh", "environment": [{ "name": "TOKEN", "value": "${VALUE}" }] }] }
      """#)
    let variables = ["HOOK": secrets[0], "VALUE": secrets[3]]
    let output = try run(Self.bad, "--log-level", "debug", environment: variables)
    #expect(output.messages.contains("it was •••"))
    let check = try Tool.run("check", "nightly.json", in: folder, environment: variables)
    #expect(check.status == 0, "\(check.text)")
    #expect(check.text.contains("Notifies") && check.text.contains("calls an address of 127.0.0.1 after every run"))
    let json = try Tool.run("check", "nightly.json", "--json", in: folder, environment: variables)
    let test = try Tool.run(
      "notify", "nightly.json", in: folder, environment: variables.merging(Self.environment) { $1 })
    var texts = [output, check, json, test].flatMap { [$0.text, $0.messages] }
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)
    for name in names
    where name.hasSuffix(".html") || ["run.log", "report.json", "processes"].contains(name)
      || name.hasSuffix(".runs.jsonl")
    {
      texts.append(try folder.text(name))
    }
    #expect(texts.count > 11)
    for secret in secrets { #expect(!texts.contains { $0.contains(secret) }, "\(secret)") }
  }

  @Test func `A message about a wrong address does not have the address`() throws {
    try pipeline(#"{ "webhooks": [{ "url": "ftp://s3cret-t0ken/x y" }], "ping": "s3cret-t0ken" }"#)
    let check = try Tool.run("check", "nightly.json", in: folder)
    #expect(check.status == 78)
    #expect(check.text.contains("notify.webhooks[0].url: is not an address"))
    #expect(check.text.contains("notify.ping: is not an address"))
    #expect(!check.text.contains("s3cret"))
  }

  @Test func `A file of a secret that is missing, or that every user can read, is a warning`() throws {
    try folder.write("x", to: "token")
    try folder.setMode(0o644, of: "token")
    try pipeline(#"{ "webhooks": [{ "url": { "file": "gone" } }, { "url": { "file": "token" } }] }"#)
    let check = try Tool.run("check", "nightly.json", in: folder)
    #expect(check.status == 0)
    #expect(check.text.contains("warning: the file \(folder.path("gone")) does not exist"))
    #expect(check.text.contains("warning: every user can read \(folder.path("token"))"))
  }

  // MARK: Trying it

  @Test func `A test goes to everything, and says what became of it`() throws {
    let server = try WebServer(in: folder)
    try folder.write("#!/bin/sh\ncat >said; echo $SURFJOURNAL_TEST >>said\n", to: "tell.sh")
    try folder.setMode(0o755, of: "tell.sh")
    try pipeline(
      #"""
      { "on": "drift", "webhooks": [{ "url": "\#(server.address)/hook", "on": "recovery" }],
        "commands": [{ "run": "./tell.sh" }, { "run": "./gone" }], "ping": "\#(server.address)/check" }
      """#)
    let output = try Tool.run("notify", "nightly.json", in: folder, environment: Self.environment)
    #expect(output.status == 74)
    #expect(
      output.text
        == "notified: notify.commands[0] (./tell.sh)\nnotified: notify.webhooks[0]\nnotified: notify.ping/fail\n")
    let gone = "notify.commands[1] (./gone): the program \(folder.path("gone")) does not exist"
    #expect(output.messages.contains("not notified: \(gone)"), "\(output.messages)")
    #expect(try folder.text("said").hasPrefix("This is a test of what the pipeline 'nightly' notifies."))
    #expect(try folder.text("said").hasSuffix("\n1\n"))
    #expect(try server.requests.map(\.path).sorted() == ["/check/fail", "/check/start", "/hook"])
    #expect(try server.requests.first { $0.path == "/hook" }?.object["test"] as? Bool == true)
    #expect(!folder.exists("journal.sqlite"))
    let none = try Tool.run("notify", "surf-log", in: folder)
    #expect(none.status == 78 && none.messages.contains("notifies nothing"))
    #expect(try Tool.run("notify", "nightly.json", "--event", "faliure", in: folder).messages.contains("did you mean"))
  }
}
