import Foundation
import TestSupport
import Testing

/// An import of linked records by workers into a schema of its own, and the same by one run into another.
struct LinkedPlan {
  let many: PlannedImport
  let one: PlannedImport
  var folder: TemporaryFolder { many.folder }

  /// - Parameters:
  ///   - pipeline: As of `LinkedSample`.
  ///   - server: Nil for the one that the tests share.
  init(pipeline: String = LinkedSample.pipeline(chunkRows: 40), on server: PostgreSQLServer? = nil) throws {
    let server = server ?? PostgreSQLServer.shared
    try self.init(PlannedImport(on: server), PlannedImport(on: server), pipeline: pipeline)
  }

  init(_ many: PlannedImport, _ one: PlannedImport, pipeline: String) throws {
    (self.many, self.one) = (many, one)
    try LinkedSample.prepare(folder)
    try folder.makeFolder("one")
    try folder.write(pipeline, to: "nightly.json")
  }

  /// Writes a log whose records share their spots with those of other logs, and say different countries of them.
  func writeLog(_ name: String, records: Int, seed: UInt64, spots: Int = 60) throws {
    let script = """
      import random, sys
      name, count, spots = sys.argv[1], int(sys.argv[2]), int(sys.argv[4])
      random.seed(int(sys.argv[3]))
      with open(name, "w") as log:
          log.write("date,spot,country,boards,rating\\n")
          for n in range(count):
              spot = random.choice(["", '"Two\\nlines"'] + [f"Spot {random.randrange(spots)}"] * 30)
              country = random.choice(["US", "AU", "FR", ""]) if spot else ""
              boards = ";".join(random.choices(["Fish", "Log", "Gun", "Twin"], k=random.choice([0, 0, 0, 1, 2])))
              rating = "much" if random.random() < 0.03 else random.randint(1, 5)
              log.write(f"2014-{n // 28 % 12 + 1:02}-{n % 28 + 1:02},{spot},{country},{boards},{rating}\\n")
      """
    try Programs.output(of: ["python3", "-c", script, name, "\(records)", "\(seed)", "\(spots)"], in: folder)
  }

  /// Imports with one run.
  @discardableResult
  func importFiles(_ files: [String], into store: PlannedImport, more: [String] = []) throws -> ProgramOutput {
    let output = try Programs.run(
      Tool.url.path,
      ["import"] + files + [
        "--pipeline", "./nightly.json", "--store", store.address, "--rejects", "one/", "--json",
      ] + more, in: folder)
    try #require([0, 65].contains(output.status), "\(output.messages)")
    return output
  }

  func plan(_ files: [String], shardBytes: Int = 2000) throws -> String {
    let output = try Programs.run(
      Tool.url.path,
      ["plan", "./nightly.json"] + files + [
        "--store", many.address, "--shard-bytes", "\(shardBytes)", "--quiet",
      ], in: folder)
    try #require(output.status == 0, "\(output.messages)")
    return output.text.trimmingCharacters(in: .newlines)
  }

  func report(_ plan: String) throws -> ProgramOutput {
    let output = try many.run(
      "report", "--plan", plan, "--store", many.address, "--rejects", "rejects.csv", "--json", "--report", "r.json")
    try #require([0, 65].contains(output.status), "\(output.messages)")
    return output
  }

  /// Each session with what it leads to, and each spot and board, as sorted lines.
  static func graph(of store: PlannedImport) throws -> [String] {
    let text = try store.psql(
      """
      SELECT concat_ws('|', 'session', s."ZDATE", s."ZRATING", coalesce(p."ZNAME", '-'), coalesce(p."ZCOUNTRY", '-'),
        (SELECT string_agg(b."ZNAME", ';' ORDER BY b."ZNAME") FROM "Z_1SESSIONS" j
          JOIN "ZBOARD" b ON b."Z_PK" = j."Z_1BOARDS" WHERE j."Z_2SESSIONS" = s."Z_PK"))
        FROM "ZSESSION" s LEFT JOIN "ZSPOT" p ON p."Z_PK" = s."ZSPOT"
      UNION ALL SELECT concat_ws('|', 'spot', "ZNAME", coalesce("ZCOUNTRY", '-')) FROM "ZSPOT"
      UNION ALL SELECT concat_ws('|', 'board', "ZNAME") FROM "ZBOARD"
      """)
    return text.split(separator: "\n").map(String.init).sorted()
  }

  /// Closes the plan, and compares everything with an import of the same files by one run, which found the same objects.
  func compare(_ plan: String, files: [String], with expected: ProgramOutput) throws {
    let found = try report(plan)
    #expect(found.status == expected.status)
    #expect(try LinkedCounts(found) == LinkedCounts(expected))
    let (own, other) = (try found.json() as Summary, try expected.json() as Summary)
    #expect(own.counts.isConserved)
    #expect(own.issues.counts == other.issues.counts)
    #expect(own.issues.listed == other.issues.listed)
    func rest(_ name: String) throws -> [Substring] {
      folder.exists(name) ? Array(try folder.text(name).split(separator: "\n").dropFirst()) : []
    }
    #expect(try rest("rejects.csv") == files.flatMap { try rest("one/\($0).rejects.csv") })
    #expect(try Self.graph(of: many) == Self.graph(of: one))
    #expect(try tableCount() == 0)
  }

  /// The tables by which workers find related objects.
  func tableCount() throws -> Int {
    let count = try many.psql(
      "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'sj\\_link%\\_%' AND schemaname = current_schema()")
    return Int(count) ?? -1
  }

  func run(_ workers: [ChildProcess]) throws {
    for worker in workers { try worker.start() }
    for worker in workers {
      worker.waitUntilExit()
      #expect(worker.terminationStatus == 0)
    }
  }
}
