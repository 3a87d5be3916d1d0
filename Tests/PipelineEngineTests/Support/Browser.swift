import Foundation
import TestSupport
import Testing

/// A real browser without a window: what a page becomes in it, says on its console, and asks the network for.
struct Browser {
  /// The document after loading, as the browser writes it.
  let dom: String
  /// What was written to the console, errors of the page included.
  let console: [String]
  /// Every address that the page made the browser ask for, the page itself aside.
  let requests: [String]

  /// Opens the page with a profile of its own.
  static func open(_ page: String, in folder: TemporaryFolder) throws -> Browser {
    let name = UUID().uuidString
    let net = folder.path("\(name).net")
    let arguments = [
      "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
      "--disable-extensions",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--user-data-dir=\(folder.path(name))", "--window-size=1280,900",
      // Nothing may leave this machine, not even if the page tries to.
      "--host-resolver-rules=MAP * ~NOTFOUND", "--log-net-log=\(net)", "--enable-logging=stderr", "--v=0",
      // Messages between frames arrive before the document is written.
      "--virtual-time-budget=2000", "--dump-dom", URL(fileURLWithPath: page).absoluteString,
    ]
    let run = try Programs.run("/usr/bin/env", arguments)
    try #require(run.status == 0, "chromium: \(run.messages)")
    return Browser(
      dom: run.text,
      console: run.messages.split(separator: "\n").filter { $0.contains("CONSOLE") }.map(String.init),
      requests: try requests(net))
  }

  /// The log names an initiator for what a page asks for, and none for the browser's own errands.
  private static func requests(_ log: String) throws -> [String] {
    try python(
      """
      import json, sys
      log = json.load(open(sys.stdin.read().strip()))
      kinds = log["constants"]["logEventTypes"]
      for event in log["events"]:
          said = event.get("params", {})
          if event["type"] == kinds["URL_REQUEST_START_JOB"] and said.get("initiator") not in (None, "not an origin"):
              print(said["url"])
      """, input: log
    ).split(separator: "\n").map(String.init)
  }
}
