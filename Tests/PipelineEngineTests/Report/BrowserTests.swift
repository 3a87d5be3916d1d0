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

  static let pages = ["clean", "dirty", "failed", "hostile", "full", "export", "index"]

  /// The page of a sample.
  private static func html(_ name: String) throws -> String {
    name == "index" ? ReportSample.index().html : try summary(name).html(issuesListedIn: ReportSample.hostile[1])
  }

  private static func summary(_ name: String) throws -> RunSummary {
    switch name {
    case "clean": try ReportSample.clean()
    case "dirty": try ReportSample.dirty()
    case "failed": try ReportSample.failed()
    case "full": try ReportSample.full()
    case "export": ReportSample.exported()
    default: try ReportSample.hostileEverywhere()
    }
  }

  @Test(arguments: pages)
  func `A page asks no server for anything and says nothing on the console`(_ name: String) throws {
    let page = try open(try Self.html(name))
    #expect(page.requests == [])
    #expect(page.console == [])
    #expect(page.dom.contains(name == "index" ? "<h2 id=\"runs\">" : "<h2 id=\"totals\">"))
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
    #expect(try width(Self.html(name)) == "360")
  }

  @Test func `A page that is too wide would be noticed`() throws {
    let html = try ReportSample.clean().html()
    #expect(try width(html.replacingOccurrences(of: "<h2 ", with: "<h2 style=\"width: 500px\" ")) != "360")
  }

  /// How wide the page is where there is room for 360 pixels.
  private func width(_ html: String) throws -> String {
    try answer(html, to: "document.documentElement.scrollWidth", width: 360)
  }

  /// What an expression is on the page where there is room for so many pixels. A window can't be very narrow, a frame in
  /// one can; it sends its answer to the page around it.
  private func answer(_ html: String, to expression: String, width: Int) throws -> String {
    _ = try folder.write(scripted(html, "parent.postMessage(String(\(expression)), '*')"), to: "frame.html")
    return try title(
      open(
        """
        <!doctype html><title></title><script>onmessage = event => document.title = event.data</script>
        <iframe src="frame.html" width="\(width)" height="800" style="border: 0"></iframe>
        """))
  }

  // MARK: Layout

  @Test(arguments: [360, 1200])
  func `No label of a chart lies over another`(_ width: Int) throws {
    for html in try [Self.html("clean"), Self.html("full")] + ReportSample.pagesOfYears() {
      let answer = try answer(html, to: LayoutScripts.collisions, width: width)
      #expect(answer.wholeMatch(of: #/[1-9][0-9]+ texts, /#) != nil, "\(answer)")
    }
  }

  /// 720 pixels are what a printed page has between its margins.
  @Test(arguments: [720, 800, 1200])
  func `No cell of a table is so narrow that its words are broken`(_ width: Int) throws {
    for name in ["clean", "dirty", "full"] {
      let answer = try answer(Self.html(name), to: LayoutScripts.brokenWords, width: width)
      #expect(answer.wholeMatch(of: #/[1-9][0-9]* 0/#) != nil, "\(name): \(answer)")
    }
  }

  @Test func `A cell that is too narrow would be noticed`() throws {
    let style = ".grid .frequent { display: inline-block; min-width: 9rem; }"
    let html = try Self.html("full")
    try #require(html.contains(style))
    let narrow = html.replacingOccurrences(of: style, with: ".grid .frequent { display: block; width: 1rem; }")
    #expect(try !answer(narrow, to: LayoutScripts.brokenWords, width: 720).hasSuffix(" 0"))
  }

  @Test func `Labels that lie over each other would be noticed`() throws {
    let style = "figure svg text { font-size: 12px;"
    let html = try Self.html("clean")
    try #require(html.contains(style))
    let large = html.replacingOccurrences(of: style, with: "figure svg text { font-size: 40px;")
    #expect(try answer(large, to: LayoutScripts.collisions, width: 360).contains(" / "))
  }

  @Test func `Legend, bars and words stand out from what is behind them, in light and in dark`() throws {
    let html = try Self.html("full")
    #expect(try answer(html, to: LayoutScripts.contrast) == "6 6 true true")
    let dark = html.replacingOccurrences(of: "@media (prefers-color-scheme: dark)", with: "@media all")
    #expect(dark != html)
    #expect(try answer(dark, to: LayoutScripts.contrast) == "6 6 true true")
    // The test can fail.
    let pale = html.replacingOccurrences(of: "--part2: #7b8b94", with: "--part2: #a9c9d4")
    #expect(try answer(pale, to: LayoutScripts.contrast) == "6 6 false true")
  }

  @Test func `On a phone a row is a card, with the names of the columns before the values`() throws {
    for name in ["full", "index"] {
      #expect(try answer(Self.html(name), to: LayoutScripts.cards, width: 360) == "true 1")
    }
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
