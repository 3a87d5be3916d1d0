import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// The page in a real browser: it says what it should, asks no server for anything, and runs nothing.
@Suite struct BrowserTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

  private func open(_ html: String) throws -> Browser {
    try Browser.open(try folder.write(html, to: "page.html"), in: folder)
  }

  /// A copy of the page whose policy lets a script of the test's own run at its end.
  private func scripted(_ html: String, _ script: String) throws -> String {
    try #require(html.contains(Self.policy))
    return html.replacingOccurrences(of: Self.policy, with: Self.policy + "; script-src 'unsafe-inline'")
      .replacingOccurrences(of: "</body>", with: "<script>\(script)</script></body>")
  }

  /// What an expression of JavaScript is on the page.
  private func answer(_ html: String, to expression: String) throws -> String {
    try title(open(scripted(html, "document.title = String(\(expression))")))
  }

  private func title(_ page: Browser) throws -> String {
    let start = try #require(page.dom.range(of: "<title>"))
    let end = try #require(page.dom.range(of: "</title>"))
    return String(page.dom[start.upperBound..<end.lowerBound])
  }

  @Test func `The browser would notice a request and a word on the console`() throws {
    let page = try open(
      "<!doctype html><img src=\"http://example.invalid/x.png\"><script>console.log('said')</script>")
    #expect(page.requests.contains("http://example.invalid/x.png"))
    #expect(page.console.count { $0.contains("said") } == 1)
  }

  static let pages = ["clean", "dirty", "failed", "hostile"]

  private static func summary(_ name: String) throws -> RunSummary {
    switch name {
    case "clean": try ReportSample.clean()
    case "dirty": try ReportSample.dirty()
    case "failed": try ReportSample.failed()
    default: try ReportSample.hostileEverywhere()
    }
  }

  @Test(arguments: pages)
  func `A page asks no server for anything and says nothing on the console`(_ name: String) throws {
    let page = try open(try Self.summary(name).html(issuesListedIn: ReportSample.hostile[1]))
    #expect(page.requests == [])
    #expect(page.console == [])
    #expect(page.dom.contains("<h2 id=\"totals\">"))
  }

  @Test func `Hostile values are text, and make no element and no attribute`() throws {
    let html = try ReportSample.hostileEverywhere().html(issuesListedIn: ReportSample.hostile[1])
    let elements = try answer(
      html,
      to: """
        document.querySelectorAll('script, img, iframe, object, a, form').length + ' ' + \
        [...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames()).filter(n => n.startsWith('on')).length
        """)
    // The one script is the test's.
    #expect(elements == "1 0")
    // Letter by letter, but for what is shown by number.
    let shown =
      ReportSample.hostile.filter { !$0.contains("\u{202E}") && !$0.contains("\u{1B}") } + [
        #"\u{202E}evil\u{202C}"#, #"\u{1B}[31mred\u{7}"#,
      ]
    let texts = String(decoding: try JSONEncoder().encode(shown), as: UTF8.self).replacingOccurrences(
      of: "</", with: "<\\/"
    )
    .replacingOccurrences(of: "<!", with: "\\u003c!")
    let found = try answer(
      html,
      to: """
        \(texts).map(t => [...document.querySelectorAll('.message')].some(e => e.textContent == t) \
        && [...document.querySelectorAll('th[scope=row]')].some(e => e.textContent == t) ? 1 : 0).join('')
        """)
    #expect(found == String(repeating: "1", count: shown.count))
  }

  @Test(arguments: pages)
  func `Nothing is wider than a small phone`(_ name: String) throws {
    #expect(try width(Self.summary(name).html()) == "360")
  }

  @Test func `A page that is too wide would be noticed`() throws {
    let html = try ReportSample.clean().html()
    #expect(try width(html.replacingOccurrences(of: "<h2 ", with: "<h2 style=\"width: 500px\" ")) != "360")
  }

  /// How wide the page is where there is room for 360 pixels. A window can't be that narrow, a frame in one can; it
  /// tells its width to the page around it.
  private func width(_ html: String) throws -> String {
    _ = try folder.write(
      scripted(html, "parent.postMessage(document.documentElement.scrollWidth, '*')"), to: "frame.html")
    return try title(
      open(
        """
        <!doctype html><title></title><script>onmessage = event => document.title = event.data</script>
        <iframe src="frame.html" width="360" height="800" style="border: 0"></iframe>
        """))
  }

  @Test func `Each chart has a name and a description, and its numbers as a table`() throws {
    let names = try answer(
      try ReportSample.clean().html(),
      to: """
        [...document.querySelectorAll('figure svg')].map(s => s.getAttribute('aria-labelledby').split(' ')\
        .map(i => document.getElementById(i).textContent.length > 9).join()).join() + ' ' + \
        document.querySelectorAll('figure table').length
        """)
    #expect(names == "true,true,true,true,true,true 3")
  }
}
