import Foundation
import TestSupport
import Testing

/// Whatever form a file has, its shards are imported as one machine imports it: what depends on the whole file is decided
/// by the plan.
@Suite(.enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct ShardFormTests {
  /// A form of files: members of the pipeline, and Python that writes the file.
  struct Form: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var members = ""
    var columns = "{ \"name\": \"date\" }"
    var file = "a.csv"
    let script: String
    /// The lowest number of shards that are expected.
    var shardsMin = 3

    init(_ testDescription: String, script: String) { (self.testDescription, self.script) = (testDescription, script) }

    func with(_ change: (inout Form) -> Void) -> Form {
      var form = self
      change(&form)
      return form
    }
  }

  private static let rows = """
    rows = [(f"2014-01-{n % 28 + 1:02}", f"Pläce {n}", 9 if n % 40 == 3 else n % 5 + 1) for n in range(1500)]
    def csv(rows, header="date,location,rating\\n"):
        return header + "".join(f"{d},{l},{r}\\n" for d, l, r in rows)

    """

  static let forms = [
    Form(
      "JSON Lines",
      script:
        "import json; open('a.jsonl', 'w').write(''.join(json.dumps(dict(date=d, location=l, rating=r)) + '\\n' for d, l, r in rows))"
    )
    .with { $0.file = "a.jsonl" },
    Form("gzip", script: "import gzip; gzip.open('a.csv.gz', 'wt').write(csv(rows))").with {
      ($0.file, $0.shardsMin) = ("a.csv.gz", 1)
    },
    Form("Latin-1 with CRLF", script: "open('a.csv', 'wb').write(csv(rows).replace('\\n', '\\r\\n').encode('latin1'))")
      .with {
        $0.members = "\"dialect\": { \"encoding\": \"latin1\" },"
      },
    Form("UTF-16", script: "open('a.csv', 'wb').write(csv(rows).encode('utf-16'))").with { $0.shardsMin = 1 },
    Form("without a header", script: "open('a.csv', 'w').write(csv(rows, ''))").with {
      $0.members = "\"dialect\": { \"header\": false, \"columns\": [\"date\", \"location\", \"rating\"] },"
    },
    Form(
      "a title, a footer, and mixed line ends",
      script:
        "open('a.csv', 'w').write('My log\\n' + csv(rows[:700]) + csv(rows[700:], '').replace('\\n', '\\r\\n') + 'Total,1,2\\nthe,end,3\\n')"
    ).with {
      $0.members = "\"dialect\": { \"skipRows\": 1, \"stopAt\": \"Total\", \"mode\": \"lenient\" },"
    },
    Form("last rows that are left out", script: "open('a.csv', 'w').write(csv(rows) + 'a,b,c\\nd,e,f\\n')").with {
      $0.members = "\"dialect\": { \"skipLastRows\": 2 },"
    },
    Form(
      "dates whose order only the end shows",
      script:
        "open('a.csv', 'w').write(csv([(f'{n % 9 + 1}/{25 if n > 1400 else 5}/2014', l, r) for n, (d, l, r) in enumerate(rows)]))"
    ).with {
      $0.columns = "{ \"name\": \"date\", \"formats\": [\"M/d/yyyy\", \"d/M/yyyy\"] }"
    },
    Form(
      "a column more, no line end at the end, and expectations",
      script: "open('a.csv', 'w').write(csv(rows, 'date,location,rating,more\\n').rstrip())"
    ).with {
      $0.members = """
        "extraColumns": "warn",
        "expect": { "columns": [{ "name": "rating", "distinctMin": 50, "severity": "warning" }] },
        """
    },
    Form(
      "broken records",
      script:
        "open('a.csv', 'w').write(csv(rows).replace('Pläce 777,', '\"Pläce 777,').replace('Pläce 100,', 'Pläce 100,x,'))"
    )
    .with { $0.shardsMin = 2 },
  ]

  private func summary(_ output: ProgramOutput) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: output.bytes) as? [String: Any], "\(output.messages)")
  }

  @Test(arguments: forms)
  func `The report, the rejects and the rows are those of one machine`(_ form: Form) throws {
    let world = try PlannedImport()
    try world.folder.write(
      """
      { "name": "nightly", \(form.members) "chunkRows": 100,
        "columns": [ \(form.columns), "location",
          { "name": "rating", "rules": [{ "rule": "range", "min": 1, "max": 5 }] } ] }
      """, to: "nightly.json")
    try Programs.output(of: ["python3", "-c", Self.rows + form.script], in: world.folder)
    let plan = try world.plan(form.file, shardBytes: 8000)
    #expect(try #require(Int(try world.psql("SELECT count(*) FROM sj_shard"))) >= form.shardsMin)
    let workers = [world.worker(plan), world.worker(plan)]
    for worker in workers { try worker.start() }
    for worker in workers {
      worker.waitUntilExit()
      #expect(worker.terminationStatus == 0)
    }
    let report = try world.run(
      "report", "--plan", plan, "--store", world.address, "--rejects", "many.csv", "--json", "--no-progress")
    let one = try world.run(
      "import", form.file, "--pipeline", "./nightly.json", "--store", "one.sqlite", "--rejects", "one.csv", "--json")
    #expect(report.status == one.status, "\(report.messages) \(one.messages)")
    var (found, expected) = (try summary(report), try summary(one))
    let (foundNote, expectedNote) = (found["note"] as? String ?? "", expected["note"] as? String ?? "")
    #expect(expectedNote.isEmpty || foundNote.contains(expectedNote), "\(foundNote)")
    for key in [
      "run", "startedAt", "seconds", "store", "rejects", "note", "memoryPeakBytes", "inputs", "rowsPerSecond",
    ] {
      (found[key], expected[key]) = (nil, nil)
    }
    for key in Set(found.keys).union(expected.keys) {
      let (own, other) = (found[key] as? NSObject, expected[key] as? NSObject)
      #expect((own == other) == true, "\(key)")
    }
    for ending in ["csv", "jsonl"] where world.folder.exists("one.\(ending)") {
      #expect(try world.folder.data("many.\(ending)") == world.folder.data("one.\(ending)"))
    }
    #expect(world.folder.exists("many.csv") == world.folder.exists("one.csv"))
    #expect(try world.rows(of: world.address) == world.rows(of: "one.sqlite"))
  }
}
