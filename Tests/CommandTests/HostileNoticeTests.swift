import Foundation
import TestSupport
import Testing

/// Text of an input, its name and a secret reach a webhook, a ping, a mail and a command as text.
@Suite struct HostileNoticeTests {
  private let folder: TemporaryFolder
  private let name = HostileTextTests.name.replacingOccurrences(of: "/", with: ":")
  init() throws {
    folder = try TemporaryFolder()
    let quoted = "\"" + HostileTextTests.value.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    try folder.write(Logs.header + "\(quoted),3.9,12,\(quoted),Rincon,\(quoted)\n", to: name)
  }

  private func run(_ notify: String, name pipeline: String = "nightly") throws -> ProgramOutput {
    let definition: [String: Any] = [
      "extends": "surf-log", "name": pipeline, "source": name, "store": "s.sqlite",
      "notify": try JSONSerialization.jsonObject(with: Data(notify.utf8)),
    ]
    try JSONSerialization.data(withJSONObject: definition).write(to: folder.file("p.json"))
    return try Programs.run(Tool.url.path, ["run", "p.json", "-q"], in: folder, environment: NotifyTests.environment)
  }

  @Test func `A webhook and a ping get it as text that no terminal and no page acts upon`() throws {
    let server = try WebServer(in: folder)
    #expect(
      try run(#"{ "webhooks": [{ "url": "\#(server.address)/h" }], "ping": "\#(server.address)/p" }"#).status == 65)
    let requests = try server.requests
    let webhook = try #require(requests.first { $0.path == "/h" })
    let ping = try #require(requests.first { $0.path == "/p/fail" })
    for body in [webhook.body, ping.body] { #expect(HostileTextTests.dangers(in: body) == [], "\(body)") }
    #expect(!webhook.body.contains("<") && webhook.body.contains("\\u003Cscript>alert(1)"), "\(webhook.body)")
    for key in ["text", "subject"] {
      let text = try #require(webhook.object[key] as? String)
      #expect(HostileTextTests.dangers(in: text) == [], "\(text)")
    }
    // A program gets the name as it is.
    let summary = try #require(webhook.object["summary"] as? [String: Any])
    #expect((summary["inputs"] as? [[String: Any]])?.first?["path"] as? String == name)
    for request in requests {
      let known: Set = [
        "host", "user-agent", "accept", "content-type", "content-length", "idempotency-key", "accept-encoding",
      ]
      #expect(Set(request.headers.keys).isSubset(of: known), "\(request.headers)")
    }
  }

  @Test func `An escape that is forgotten in a body is found`() throws {
    let server = try WebServer(in: folder)
    _ = try run(#"{ "webhooks": [{ "url": "\#(server.address)/h" }] }"#)
    let body = try #require(try server.requests.first?.body)
    for (escaped, raw) in [("\\u202E", "\u{202E}"), ("\\u{9B}", "\u{9B}")] {
      let range = try #require(body.range(of: escaped), "\(body)")
      #expect(HostileTextTests.dangers(in: body.replacingCharacters(in: range, with: raw)) != [])
    }
  }

  @Test(arguments: ["a\r\nX-Injected: 1", "a\nb", "a\u{0}b", "a\u{1B}[31m", "a\u{7F}"])
  func `The value of a header that is more than one line is not sent`(_ secret: String) throws {
    let server = try WebServer(in: folder)
    try folder.write(secret, to: "secret")
    try folder.setMode(0o600, of: "secret")
    let output = try run(
      #"""
      { "webhooks": [{ "url": "\#(server.address)/h",
        "headers": [{ "name": "X-Key", "value": { "file": "secret" } }] }] }
      """#)
    #expect(output.status == 65)
    #expect(output.messages.contains("the value of the header X-Key has a line break or a control character"))
    #expect(try server.requests.isEmpty)
  }

  @Test(arguments: [#"X\r\nY"#, "X Y", "X:", "", #"X\u001b"#])
  func `A name that a header can't have is refused before the run`(_ header: String) throws {
    let server = try WebServer(in: folder)
    let output = try run(
      #"{ "webhooks": [{ "url": "\#(server.address)/h", "headers": [{ "name": "\#(header)", "value": "v" }] }] }"#)
    #expect(output.status == 78, "\(output.messages)")
    #expect(HostileTextTests.dangers(in: output.messages) == [])
    #expect(try server.requests.isEmpty && !folder.exists("s.sqlite"))
  }

  @Test(arguments: ["a\r\nBcc: x@example.org\r\n\r\nbody", "a\u{1B}]0;b\u{7}\u{202E}"])
  func `The name of a pipeline adds no line to a mail and nothing to a request`(_ pipeline: String) throws {
    let server = try WebServer(in: folder)
    try folder.write("#!/bin/sh\ncat >mail\n", to: "sendmail")
    try folder.setMode(0o755, of: "sendmail")
    let output = try run(
      #"""
      { "webhooks": [{ "url": "\#(server.address)/h" }],
        "mails": [{ "to": ["root"], "sendmail": ["./sendmail"] }] }
      """#, name: pipeline)
    #expect(HostileTextTests.dangers(in: output.messages + output.text) == [])
    for request in try server.requests { #expect(HostileTextTests.dangers(in: request.body) == []) }
    guard folder.exists("mail") else {
      #expect(output.status == 78, "\(output.messages)")
      return
    }
    let parsed = try Programs.python(
      """
      import email, email.policy
      mail = email.message_from_bytes(open("mail", "rb").read(), policy=email.policy.default)
      print(mail["Bcc"], len(mail.get_all("Subject")))
      """, in: folder)
    #expect(parsed == "None 1\n")
  }

  @Test func `A command gets text without control characters, and its words reach no shell`() throws {
    try folder.write(
      "#!/bin/sh\ncat >said; printf '%s' \"$SURFJOURNAL_SUBJECT$SURFJOURNAL_MESSAGE\" >facts\n", to: "tell")
    try folder.setMode(0o755, of: "tell")
    for form in ["text", "json"] {
      #expect(try run(#"{ "on": "always", "commands": [{ "run": "./tell", "summary": "\#(form)" }] }"#).status != 78)
      for name in ["said", "facts"] {
        #expect(HostileTextTests.dangers(in: try folder.text(name)) == [], "\(form): \(name)")
      }
      try? FileManager.default.removeItem(at: folder.file("s.sqlite"))
    }
  }
}
