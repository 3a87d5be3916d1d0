import Foundation
import TestSupport
import Testing

/// Links to entries that come later: of the own entity, and of a later part. A model in Python says which records are
/// imported and where they lead.
@Suite(.seeded) struct LateLinkTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try LateModel.write("Tree.xcdatamodel", entities: Self.entities, to: folder)
  }

  private static let entities = """
    <entity name="Category">
      <attribute name="colour" optional="YES" attributeType="String"/>
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="children" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Category" inverseName="parent" inverseEntity="Category"/>
      <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Category" inverseName="previous" inverseEntity="Category"/>
      <relationship name="parent" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Category" inverseName="children" inverseEntity="Category"/>
      <relationship name="previous" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Category" inverseName="next" inverseEntity="Category"/>
      <relationship name="related" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Category" inverseName="related" inverseEntity="Category"/>
    </entity>
    """

  private func writePipeline(chunkRows: Int = 5000, ifMissing: String = "reject") throws {
    try folder.write(
      """
      { "name": "tree", "model": "Tree.xcdatamodel", "entity": "Category", "store": "s.sqlite",
        "chunkRows": \(chunkRows), "key": "name", "duplicates": "update", "missingColumns": "ignore",
        "columns": ["name", "colour",
          { "name": "parent", "attribute": "parent.name", "link": { "ifMissing": "\(ifMissing)" } },
          { "name": "parent colour", "attribute": "parent.colour" },
          { "name": "next", "attribute": "next.name", "link": { "ifMissing": "\(ifMissing)" } },
          { "name": "related", "attribute": "related.name", "link": { "ifMissing": "\(ifMissing)", "separator": ";" } }] }
      """, to: "p.json")
  }

  private func rows(_ query: String, of store: String = "s.sqlite") throws -> String {
    try Programs.sqlite(store, query, in: folder)
  }

  private func importing(_ file: String, _ text: String? = nil, again: Bool = false) throws -> ProgramOutput {
    if let text { try folder.write(text, to: file) }
    let command = ["import", file, "--pipeline", "p.json", "--json"]
    return try Programs.run(Tool.url.path, command + (again ? ["--again"] : []), in: folder)
  }

  /// Writes files and prints which records are rejected, and what the entries are in the end. A record that names nothing,
  /// or an entry that is only in a rejected record, is rejected; nothing else is.
  private static let play = """
    import csv, random, sys
    random.seed(\(Randomness.seed))
    names = [f"c{n}" for n in range(40)]
    stored = {}
    for file_name in ["a.csv", "b.csv"]:
        chosen = random.sample(names[:30], 22)
        records = [(name, random.choice(chosen * 3 + ["", "c35"] + list(stored)),
                    random.choice(["", "red", "blue"])) for name in chosen]
        with open(file_name, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["name", "parent", "colour"])
            out.writerows(records)
        good = dict((name, parent) for name, parent, _ in records)
        while True:
            bad = [n for n, parent in good.items() if parent and parent not in good and parent not in stored]
            if not bad: break
            for name in bad: del good[name]
        print(file_name, [i for i, record in enumerate(records, 1) if record[0] not in good])
        for name, parent, colour in records:
            if name in good: stored[name] = (parent, colour)
    for name in sorted(stored): print("|".join([name, *stored[name]]))
    """

  @Test(arguments: [1, 4, 5000])
  func `Parents may come later, and what leads to a rejected record is rejected`(_ chunkRows: Int) throws {
    let expected = try Programs.python(Self.play, in: folder)
    try writePipeline(chunkRows: chunkRows)
    var lines = ""
    for name in ["a.csv", "b.csv"] {
      let dry = try Tool.run("validate", name, "--pipeline", "p.json", "--json", in: folder)
      let output = try importing(name)
      let summary = try output.json()
      #expect(try dry.json().counts == summary.counts)
      #expect(summary.counts.isConserved)
      #expect(summary.issues.counts.keys.allSatisfy { $0 == "missing-object" }, "\(output.text)")
      #expect(try LinkedCounts(dry) == LinkedCounts(output))
      lines += "\(name) [\(summary.issues.listed.map { "\($0.record)" }.joined(separator: ", "))]\n"
    }
    let state = try rows(
      """
      SELECT c.ZNAME, coalesce(p.ZNAME, ''), coalesce(c.ZCOLOUR, '') FROM ZCATEGORY c
        LEFT JOIN ZCATEGORY p ON p.Z_PK = c.ZPARENT ORDER BY 1
      """)
    #expect(lines + state == expected)
    #expect(try Tool.run("verify", "s.sqlite", "--model", "Tree.xcdatamodel", in: folder).status == 0)
  }

  @Test func `Rejected records are replayed when what they lead to is there`() throws {
    try writePipeline()
    let output = try importing("a.csv", "name,parent\na,b\nb,c\nd,\n")
    #expect(output.status == 65)
    let listed = try output.json().issues.listed
    #expect(listed.map(\.record) == [1, 2])
    #expect(listed[1].message.contains("no Category of the store or of this run is the one with name c"), "\(listed)")
    #expect(try rows("SELECT ZNAME FROM ZCATEGORY") == "d\n")
    #expect(try importing("c.csv", "name,parent\nc,\n").status == 0)
    let replay = try Tool.run("replay", "a.csv.rejects.csv", "--pipeline", "p.json", in: folder)
    #expect(replay.status == 0, "\(replay.messages)")
    #expect(
      try rows("SELECT c.ZNAME || p.ZNAME FROM ZCATEGORY c JOIN ZCATEGORY p ON p.Z_PK = c.ZPARENT ORDER BY 1")
        == "ab\nbc\n")
  }

  @Test func `The event log has each event once, also of a run that begins again`() throws {
    try writePipeline(chunkRows: 2)
    try folder.write("name,parent\na,b\nb,c\nd,\ne,a\n", to: "a.csv")
    let output = try Tool.run(
      "import", "a.csv", "--pipeline", "p.json", "-q", "--log", "run.log", "--log-format", "json",
      "--log-level", "debug", in: folder)
    #expect(output.status == 65)
    struct Line: Decodable {
      let event: String
      let record: Int?
      let inserted: Int?
    }
    let lines = try folder.text("run.log").split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
    #expect(lines.filter { $0.event == "issue" }.compactMap(\.record) == [1, 2, 4])
    for event in ["run-started", "input-opened", "input-completed", "run-ended"] {
      #expect(lines.count { $0.event == event } == 1, "\(event)")
    }
    #expect(lines.filter { $0.event == "chunk-saved" }.compactMap(\.record) == [2, 4])
    #expect(lines.first { $0.event == "input-completed" }?.inserted == 1)
  }

  @Test func `With leave, a name that nothing has is left out and counted`() throws {
    try writePipeline(ifMissing: "leave")
    let output = try importing("a.csv", "name,parent,related\na,b,a;x;b\nb,nowhere,\n")
    #expect(output.status == 0, "\(output.text)")
    #expect(try LinkedCounts(output).links == "Category 0 3 2\n")
    #expect(try rows("SELECT count(*), count(ZPARENT) FROM ZCATEGORY") == "2|1\n")
  }

  @Test func `Each entry can be next of one only, and contradictions are found`() throws {
    try writePipeline()
    let output = try importing(
      "a.csv", "name,next,colour,parent,parent colour\na,b,red,,\nb,,,a,red\nc,b,,,\nd,,,a,blue\n")
    let issues = try output.json().issues.listed
    #expect(issues.map(\.record) == [3, 4], "\(output.text)")
    #expect(issues.map(\.code) == ["taken-object", "different-object"])
    #expect(issues[1].message.contains("another colour of the Category with name a, which has 'red'"))
    #expect(try Tool.run("verify", "s.sqlite", "--model", "Tree.xcdatamodel", in: folder).status == 0)
  }

  @Test func `The same file again changes nothing, an update moves entries, and an undo moves them back`() throws {
    try writePipeline(chunkRows: 2)
    #expect(try importing("a.csv", "name,parent,related\na,c,b\nb,a,a;c\nc,,b\n").status == 0)
    let again = try importing("a.csv", again: true)
    #expect(try again.json().counts == Summary.Counts(read: 3, unchanged: 3))
    let graph = """
      SELECT c.ZNAME, p.ZNAME FROM ZCATEGORY c LEFT JOIN ZCATEGORY p ON p.Z_PK = c.ZPARENT ORDER BY 1;
      SELECT count(*) FROM Z_3RELATED
      """
    let before = try rows(graph)
    let moved = try importing("b.csv", "name,parent,related\nb,d,c\nd,a,\nc,,b\n")
    #expect(moved.status == 0, "\(moved.text)")
    #expect(try moved.json().counts == Summary.Counts(read: 3, inserted: 1, updated: 1, unchanged: 1))
    #expect(try rows(graph).hasPrefix("a|c\nb|d\nc|\nd|a\n"))
    let undo = try Tool.run("undo", "s.sqlite", "b.csv", "-y", "--model", "Tree.xcdatamodel", in: folder)
    #expect(undo.status == 0, "\(undo.messages)")
    #expect(try rows(graph) == before)
    #expect(try Tool.run("verify", "s.sqlite", "--model", "Tree.xcdatamodel", in: folder).status == 0)
  }

  @Test(arguments: [1, 5000])
  func `Parts that lead to one another are imported together, or not at all`(_ chunkRows: Int) throws {
    try folder.write(
      """
      { "name": "library", "model": "Tree.xcdatamodel", "store": "s.sqlite", "chunkRows": \(chunkRows), "parts": [
        { "entity": "Author", "source": "authors.csv", "columns": ["name",
          { "name": "favourite", "attribute": "favourite.title", "link": { "ifMissing": "reject" } }] },
        { "entity": "Book", "source": "books.csv", "columns": ["title",
          { "name": "author", "attribute": "author.name", "link": { "ifMissing": "reject" } }] } ] }
      """, to: "library.json")
    try folder.write("name,favourite\nAnn,Two\nBob,\nCid,Nine\n", to: "authors.csv")
    try folder.write("title,author\nOne,Ann\nTwo,Bob\nNine,Cid\nTen,Zoe\n", to: "books.csv")
    let dry = try Tool.run("run", "./library.json", "--dry-run", "--json", in: folder)
    let output = try Tool.run("run", "./library.json", "--json", in: folder)
    #expect(try output.json().counts == dry.json().counts)
    #expect(try output.json().issues.listed.map(\.record) == [4], "\(output.text)")
    let graph = """
      SELECT a.ZNAME, b.ZTITLE FROM ZAUTHOR a LEFT JOIN ZBOOK b ON b.Z_PK = a.ZFAVOURITE ORDER BY 1;
      SELECT b.ZTITLE, a.ZNAME FROM ZBOOK b JOIN ZAUTHOR a ON a.Z_PK = b.ZAUTHOR ORDER BY 1
      """
    #expect(try rows(graph) == "Ann|Two\nBob|\nCid|Nine\nNine|Cid\nOne|Ann\nTwo|Bob\n")
    #expect(try LinkedCounts(output).links == "Author 0 3 0\nBook 0 2 0\n")
    #expect(try Tool.run("verify", "s.sqlite", "--model", "Tree.xcdatamodel", in: folder).status == 0)
    let undo = try Tool.run("undo", "s.sqlite", "-y", "--model", "Tree.xcdatamodel", in: folder)
    #expect(undo.status == 0, "\(undo.messages)")
    #expect(try rows("SELECT count(*) FROM ZAUTHOR; SELECT count(*) FROM ZBOOK") == "0\n0\n")
  }

  @Test func `A seed from files has links to later records`() throws {
    try folder.write("name,favourite.title\nAnn,Two\n", to: "authors.csv")
    try folder.write("title,author.name\nTwo,Ann\n", to: "books.csv")
    try folder.write("name,parent.name\na,b\nb,\n", to: "tree.csv")
    let output = try Tool.run(
      "seed", "--from", "Author=authors.csv", "--from", "Book=books.csv", "--from", "Category=tree.csv", "-o",
      "seed.sqlite", "--model", "Tree.xcdatamodel", in: folder)
    #expect(output.status == 0, "\(output.messages)\(output.text)")
    #expect(
      try rows(
        "SELECT count(ZFAVOURITE) FROM ZAUTHOR; SELECT count(ZAUTHOR) FROM ZBOOK; SELECT count(ZPARENT) FROM ZCATEGORY",
        of: "seed.sqlite") == "1\n1\n1\n")
    // Without a pipeline there is no setting that could be changed.
    try folder.write("name,parent.name\na,z\nb,\n", to: "tree.csv")
    let missing = try Tool.run(
      "seed", "--from", "Category=tree.csv", "-o", "other.sqlite", "--model", "Tree.xcdatamodel", in: folder)
    #expect(missing.status == 65, "\(missing.messages)")
    #expect(missing.text.contains("write a pipeline with a 'link' for parent"), "\(missing.text)")
    #expect(missing.text.contains("correct these records in the inputs"), "\(missing.text)")
  }
}
