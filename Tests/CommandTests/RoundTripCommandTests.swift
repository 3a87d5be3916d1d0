import Foundation
import TestSupport
import Testing

/// The ready `round-trip` pipeline through the program: any store's entries go out, in and out again.
@Suite struct RoundTripCommandTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test(.seeded) func `A store that Python filled comes back byte for byte, by name and by its file`() throws {
    try folder.write(Logs.header, to: "empty.csv")
    _ = try Tool.run("import", "empty.csv", "--store", "first", in: folder)
    try Programs.python(
      #"""
      import random, sqlite3, struct
      random.seed(\#(Randomness.seed))
      parts = ["\\N", "\\", "N", "", ",", '"', "\n", "\r", " ", "\0", "🏄🏽‍♀️", "é", "\t", "x" * 9000, "\ufeff"]
      def text():
          return random.choice([None, "", "\\N"] + 9 * ["".join(random.choices(parts, k=random.randint(1, 5)))])
      def date():
          bits = struct.unpack("d", random.randbytes(8))[0]
          return random.choice([None, random.randint(-10**10, 10**10), random.uniform(-3e9, 3e9),
                                bits if abs(bits) < 1e308 else 0.1])
      store = sqlite3.connect("first")
      store.executemany(
          "INSERT INTO ZJOURNALENTRY(Z_PK, Z_ENT, Z_OPT, ZDATE, ZHEIGHT, ZLOCATION, ZPERIOD, ZRATING, ZWIND) "
          "VALUES(?, 1, 1, ?, ?, ?, ?, ?, ?)",
          [(3 * n, date(), text(), text(), text(), random.choice([None, random.randint(-32768, 32767)]), text())
           for n in range(1, 801)])
      store.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 2400")
      store.commit()
      """#, in: folder)
    let definition = Repository.path("Pipelines/round-trip.json")
    let out = try Tool.run("export", "--store", "first", "--pipeline", "round-trip", "-o", "1.csv.gz", in: folder)
    #expect(out.status == 0, "\(out.text)\(out.messages)")
    let back = try Tool.run("import", "1.csv.gz", "--store", "second", "--pipeline", definition, in: folder)
    #expect(back.status == 0, "\(back.text)\(back.messages)")
    let again = try Tool.run("run", definition, "--store", "second", "-o", "2.csv.gz", in: folder)
    #expect(again.status == 0, "\(again.text)\(again.messages)")
    #expect(try folder.data("1.csv.gz") == folder.data("2.csv.gz"))
    let query = """
      SELECT quote(ZDATE), hex(ZHEIGHT), typeof(ZHEIGHT), hex(ZLOCATION), typeof(ZLOCATION), hex(ZPERIOD),
      typeof(ZPERIOD), ZRATING, typeof(ZRATING), hex(ZWIND), typeof(ZWIND) FROM ZJOURNALENTRY ORDER BY Z_PK
      """
    let rows = try Programs.sqlite("first", query, in: folder)
    #expect(try Programs.sqlite("second", query, in: folder) == rows)
    #expect(rows.split(separator: "\n").count == 800)
  }
}
