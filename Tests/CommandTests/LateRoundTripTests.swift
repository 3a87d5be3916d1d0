import Foundation
import TestSupport
import Testing

/// Graphs of entries that lead to one another in circles, to themselves and to entries that nothing tells apart: imported
/// by names that are not stored, exported and imported again, they are the graph that Python made.
@Suite(.seeded) struct LateRoundTripTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try LateModel.write("Web.xcdatamodel", entities: Self.entities, to: folder)
  }

  private static let entities = """
    <entity name="Node">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="children" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Node" inverseName="parent" inverseEntity="Node"/>
      <relationship name="friends" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Node" inverseName="friends" inverseEntity="Node"/>
      <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Node" inverseName="previous" inverseEntity="Node"/>
      <relationship name="parent" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Node" inverseName="children" inverseEntity="Node"/>
      <relationship name="previous" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Node" inverseName="next" inverseEntity="Node"/>
    </entity>
    """

  private static let pipeline = """
    { "name": "web", "model": "Web.xcdatamodel", "chunkRows": 7, "parts": [
      { "entity": "Author", "source": "Author.csv", "columns": [{ "name": "id", "attribute": "@record" }, "name",
        { "name": "favourite", "attribute": "favourite.@record", "link": {} }] },
      { "entity": "Book", "source": "Book.csv", "columns": [{ "name": "id", "attribute": "@record" }, "title",
        { "name": "author", "attribute": "author.@record", "link": {} }] },
      { "entity": "Node", "source": "Node.csv", "columns": [{ "name": "id", "attribute": "@record" }, "name",
        { "name": "parent", "attribute": "parent.@record", "link": {} },
        { "name": "next", "attribute": "next.@record", "link": {} },
        { "name": "friends", "attribute": "friends.@record", "link": { "separator": " " } }] } ] }
    """

  /// What does not depend on keys of a graph: each node's values, refined by those of its neighbours.
  private static let shape = """
    import hashlib
    def shape(nodes, edges):
        colours = {key: repr(value) for key, value in nodes.items()}
        for _ in range(8):
            near = {key: [] for key in nodes}
            for label, a, b in edges:
                near[a].append(label + ">" + colours[b])
                near[b].append(label + "<" + colours[a])
            colours = {key: hashlib.md5((colours[key] + repr(sorted(near[key]))).encode()).hexdigest() for key in nodes}
        return hashlib.md5(repr(sorted(colours.values())).encode()).hexdigest()
    """

  private static let make =
    shape + """

      import csv, random
      random.seed(\(Randomness.seed))
      nodes, edges = {}, []
      def write(name, header, rows):
          with open(name + ".csv", "w", newline="") as file: csv.writer(file).writerows([header] + rows)
      books = [f"b{n}" for n in range(20)]
      authors = [f"a{n}" for n in range(9)]
      rows = []
      for key in authors:
          name, favourite = random.choice(["Ann", "Bob", ""]), random.choice(books + [""])
          nodes[key] = ("Author", name)
          if favourite: edges.append(("favourite", key, favourite))
          rows.append([key, name, favourite])
      write("Author", ["id", "name", "favourite"], rows)
      rows = []
      for key in books:
          title, author = random.choice(["One", "Two"]), random.choice(authors)
          nodes[key] = ("Book", title)
          edges.append(("author", key, author))
          rows.append([key, title, author])
      write("Book", ["id", "title", "author"], rows)
      keys = [f"n{n}" for n in range(30)]
      following = dict(zip(keys, random.sample(keys + [""] * 20, 30)))
      friends = {key: set() for key in keys}
      for _ in range(25):
          a, b = random.sample(keys, 2)
          friends[a].add(b); friends[b].add(a)
      rows = []
      for key in keys:
          name, parent = random.choice(["x", "y", ""]), random.choice(keys + [""] * 5)
          nodes[key] = ("Node", name)
          if parent: edges.append(("parent", key, parent))
          if following[key]: edges.append(("next", key, following[key]))
          edges += [("friends", key, other) for other in friends[key]]
          rows.append([key, name, parent, following[key], " ".join(sorted(friends[key]))])
      random.shuffle(rows)
      write("Node", ["id", "name", "parent", "next", "friends"], rows)
      print(shape(nodes, edges))
      """

  private static let read =
    shape + """

      import sqlite3, sys
      base = sqlite3.connect(sys.argv[1])
      nodes, edges = {}, set()
      for key, name, other in base.execute("SELECT Z_PK, coalesce(ZNAME, ''), ZFAVOURITE FROM ZAUTHOR"):
          nodes["a", key] = ("Author", name)
          if other: edges.add(("favourite", ("a", key), ("b", other)))
      for key, name, other in base.execute("SELECT Z_PK, coalesce(ZTITLE, ''), ZAUTHOR FROM ZBOOK"):
          nodes["b", key] = ("Book", name)
          if other: edges.add(("author", ("b", key), ("a", other)))
      for key, name, parent, following in base.execute("SELECT Z_PK, coalesce(ZNAME, ''), ZPARENT, ZNEXT FROM ZNODE"):
          nodes["n", key] = ("Node", name)
          if parent: edges.add(("parent", ("n", key), ("n", parent)))
          if following: edges.add(("next", ("n", key), ("n", following)))
      for a, b in base.execute("SELECT * FROM Z_3FRIENDS"):
          edges.add(("friends", ("n", a), ("n", b)))
          edges.add(("friends", ("n", b), ("n", a)))
      print(shape(nodes, sorted(edges)))
      """

  @Test func `Out and in, the graph is the same`() throws {
    let expected = try Programs.python(Self.make, in: folder)
    try folder.write(Self.pipeline, to: "web.json")
    let output = try Tool.run("run", "./web.json", "--store", "s.sqlite", in: folder)
    #expect(output.status == 0, "\(output.messages)\(output.text)")
    #expect(try Programs.python(Self.read, "s.sqlite", in: folder) == expected)
    let exported = try Tool.run(
      "export", "--store", "s.sqlite", "--all-entities", "-o", "files", "--model", "Web.xcdatamodel", in: folder)
    #expect(exported.status == 0, "\(exported.messages)")
    let again = try Tool.run(
      "run", "files/pipeline.json", "--store", "again.sqlite", "--model", "Web.xcdatamodel", in: folder)
    #expect(again.status == 0, "\(again.messages)\(again.text)")
    #expect(try Programs.python(Self.read, "again.sqlite", in: folder) == expected)
    for store in ["s.sqlite", "again.sqlite"] {
      #expect(try Tool.run("verify", store, "--model", "Web.xcdatamodel", in: folder).status == 0)
    }
  }

  @Test func `Two records of one name are refused, and so is what leads to a name that nothing has`() throws {
    try folder.write(Self.pipeline, to: "web.json")
    try folder.write("id,name,favourite\n1,Ann,\n1,Bob,\n", to: "Author.csv")
    try folder.write("id,title,author\n1,One,1\n2,Two,7\n", to: "Book.csv")
    try folder.write("id,name,parent,next,friends\n", to: "Node.csv")
    let output = try Tool.run("run", "./web.json", "--store", "s.sqlite", "--json", in: folder)
    #expect(output.status == 65)
    let issues = try output.json().issues
    #expect(issues.counts == ["primary-key": 1, "missing-object": 1], "\(output.text)")
    #expect(
      issues.listed.contains {
        $0.message.contains("no Author of the store or of this run is the one with the name 7")
      }, "\(issues.listed)")
    #expect(
      try Programs.sqlite(
        "s.sqlite", "SELECT ZNAME, ZTITLE FROM ZBOOK b JOIN ZAUTHOR a ON a.Z_PK = ZAUTHOR", in: folder) == "Ann|One\n")
  }
}
