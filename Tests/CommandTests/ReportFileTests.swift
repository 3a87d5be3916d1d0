import Foundation
import TestSupport
import Testing

/// The report's files: each in the format that its name says, all with the same numbers.
@Suite struct ReportFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let endings = ["txt", "json", "xml", "html", "prom"]

  @Test(arguments: ["import", "validate"])
  func `Every format tells the same numbers`(_ command: String) throws {
    let reports = Self.endings.flatMap { ["--report", "r.\($0)"] }
    let output = try Programs.run(
      Tool.url.path, [command, Repository.dirtyLog, "--store", "s"] + reports, in: folder)
    #expect(output.status == 65)
    let numbers = try Programs.python(
      """
      import html, json, re, xml.etree.ElementTree as tree
      report = json.load(open("r.json"))
      counts, issues = report["counts"], report["issues"]
      print(counts["read"], counts["rejected"], issues["errors"], len(issues["counts"]))
      suite = tree.parse("r.xml").getroot()[0]
      said = {one.get("name"): int(one.get("value")) for one in suite.find("properties")}
      codes = [case for case in suite.iter("testcase") if case.get("classname").endswith(".code")]
      print(said["read"], said["rejected"], said["errors"], len(codes))
      gauges = dict(line.rsplit(" ", 1) for line in open("r.prom") if line[0] != "#")
      def gauge(name, label):
          return next(int(gauges[key]) for key in gauges if key.startswith("surfjournal_last_run_" + name) and label in key)
      print(gauge("records", '"read"'), gauge("records", '"rejected"'), gauge("issues", '"error"'))
      page = open("r.html").read()
      terms = [int(one) for one in re.findall('<div class="term [^>]*><dd>(\\\\d+)</dd>', page)]
      assert terms[0] == sum(terms[1:])
      print(terms[0], terms[-1], re.search(r"Done, (\\d+) errors", page)[1], page.count('<article class="group'))
      """, in: folder)
    #expect(numbers == "60 29 36 9\n60 29 36 9\n60 29 36\n60 29 36 9\n")
    #expect(try folder.text("r.txt").contains("36 errors"))
  }

  @Test func `A pipeline's reports are next to its file, and a failed export is reported in each of them`() throws {
    try folder.makeFolder("nightly")
    try folder.write(
      #"{"name": "out", "store": "none.sqlite", "export": {"output": "o.csv"}, "#
        + #""report": ["r.txt", "r.json", "r.xml", "r.html", "r.prom"]}"#, to: "nightly/out.json")
    let output = try Tool.run("run", "nightly/out.json", in: folder)
    #expect(output.status != 0)
    for ending in Self.endings {
      let text = try folder.text("nightly/r.\(ending)")
      #expect(
        text.contains(ending == "prom" ? "exit_code{pipeline=\"out\",kind=\"export\"} \(output.status)" : "none.sqlite")
      )
    }
    // Each came whole, and nothing else did.
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("nightly")).count == 6)
  }
}
