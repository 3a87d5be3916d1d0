import Foundation
import TestSupport
import Testing

/// Links that break a rule of the model at their other end: the records are rejected, and the others are imported.
@Suite struct LinkedRuleTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try LateModel.write("M.xcdatamodel", entities: Self.entities + LateModel.crews, to: folder)
  }

  private static let entities = """
    <entity name="Spot">
      <attribute name="name" attributeType="String"/>
      <relationship name="sessions" optional="YES" toMany="YES" maxCount="2" deletionRule="Nullify" destinationEntity="Session" inverseName="spot" inverseEntity="Session"/>
    </entity>
    <entity name="Session">
      <attribute name="note" attributeType="String"/>
      <relationship name="spot" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Spot" inverseName="sessions" inverseEntity="Spot"/>
    </entity>
    """

  private func write(_ entity: String, key: String, _ columns: String, chunkRows: Int = 5000) throws {
    try folder.write(
      """
      { "name": "p", "model": "M.xcdatamodel", "entity": "\(entity)", "store": "s.sqlite", "chunkRows": \(chunkRows),
        "key": "\(key)", "duplicates": "update", "columns": ["\(key)", \(columns)] }
      """, to: "p.json")
  }

  private static let spot = #"{ "name": "spot", "attribute": "spot.name", "link": { "ifMissing": "create" } }"#
  private static let crew = #"{ "name": "crew", "attribute": "crew.name", "link": { "ifMissing": "create" } }"#
  private static let books =
    #"{ "name": "books", "attribute": "books.title", "link": { "ifMissing": "create", "separator": ";" } }"#

  /// Imports a text after a dry run, which must count the same.
  ///
  /// - Returns: The records that were rejected, each for a rule of the model.
  private func rejected(_ text: String) throws -> (records: [Int], messages: [String]) {
    try folder.write(text, to: "a.csv")
    let dry = try Tool.run("validate", "a.csv", "--pipeline", "p.json", "--json", in: folder).json()
    let output = try Tool.run("import", "a.csv", "--pipeline", "p.json", "--json", "--again", in: folder)
    let summary = try output.json()
    #expect(output.status == (summary.counts.rejected == 0 ? 0 : 65), "\(output.messages)")
    #expect(dry.counts == summary.counts)
    #expect(summary.counts.isConserved)
    let listed = summary.issues.listed
    #expect(listed.allSatisfy { $0.code == "model-error" }, "\(output.text)")
    #expect(dry.issues.listed.map(\.record) == listed.map(\.record))
    let verified = try Tool.run("verify", "s.sqlite", "--model", "M.xcdatamodel", in: folder)
    #expect(verified.status == 0, "\(verified.text)")
    return (listed.map(\.record), listed.map(\.message))
  }

  private func rows(_ query: String) throws -> String { try Programs.sqlite("s.sqlite", query, in: folder) }

  private static let sessions =
    "SELECT p.ZNAME, group_concat(s.ZNOTE, '') FROM ZSPOT p JOIN (SELECT * FROM ZSESSION ORDER BY ZNOTE) s "
    + "ON s.ZSPOT = p.Z_PK GROUP BY 1 ORDER BY 1"

  @Test(arguments: [1, 2, 5000])
  func `Records beyond the number that an object of the store can have are rejected`(_ chunkRows: Int) throws {
    try write("Session", key: "note", Self.spot, chunkRows: chunkRows)
    #expect(try rejected("note,spot\na,X\nb,Y\n").records == [])
    let (records, messages) = try rejected("note,spot\nc,X\nd,X\ne,X\nf,Y\ng,\nh,Y\n")
    #expect(records == [2, 3, 6])
    #expect(messages.allSatisfy { $0.contains("can have 2 objects in its 'sessions' at most") }, "\(messages)")
    #expect(try rows(Self.sessions) == "X|ac\nY|bf\n")
    // As the message advises: one of the others is led elsewhere.
    #expect(try rejected("note,spot\na,Z\nd,X\n").records == [])
    #expect(try rows(Self.sessions) == "X|cd\nY|bf\nZ|a\n")
  }

  @Test(arguments: [1, 5000])
  func `So are those beyond the number that an object has which the records create`(_ chunkRows: Int) throws {
    try write("Session", key: "note", Self.spot, chunkRows: chunkRows)
    #expect(try rejected("note,spot\na,X\nb,X\nc,X\nd,Y\n").records == [3])
    #expect(try rows(Self.sessions) == "X|ab\nY|d\n")
  }

  @Test func `Of records with one key the one that leads too many to an object is rejected`() throws {
    try write("Session", key: "note", Self.spot)
    #expect(try rejected("note,spot\na,X\nb,X\n").records == [])
    #expect(try rejected("note,spot\nc,Y\nc,X\nd,Y\n").records == [2])
    #expect(try rows(Self.sessions) == "X|ab\nY|cd\n")
  }

  @Test(arguments: [1, 5000])
  func `A record that leaves an object without what is mandatory is rejected`(_ chunkRows: Int) throws {
    try write("Author", key: "name", Self.books, chunkRows: chunkRows)
    #expect(try rejected("name,books\nAnn,One;Two\nBob,Three\n").records == [])
    let (records, messages) = try rejected("name,books\nAnn,One\nBob,Three;Four\n")
    #expect(records == [1])
    #expect(messages[0].contains("Book p2 would have nothing in its 'author', which is mandatory"), "\(messages)")
    let books = "SELECT ZTITLE, a.ZNAME FROM ZBOOK JOIN ZAUTHOR a ON a.Z_PK = ZAUTHOR ORDER BY 1"
    #expect(try rows(books) == "Four|Bob\nOne|Ann\nThree|Bob\nTwo|Ann\n")
  }

  @Test(arguments: [1, 5000])
  func `So is a record that leaves an object which an earlier record with its key creates`(_ chunkRows: Int) throws {
    try write("Author", key: "name", Self.books, chunkRows: chunkRows)
    #expect(try rejected("name,books\nAnn,One;Two\nAnn,One\nBob,Three\n").records == [2])
    #expect(try rows("SELECT count(ZAUTHOR), count(*) FROM ZBOOK") == "3|3\n")
  }

  @Test func `A record that leaves too few to an object is rejected, and all of them may leave`() throws {
    try write("Rider", key: "name", Self.crew)
    #expect(try rejected("name,crew\nAnn,A\nBob,A\nCid,B\nDan,B\nEve,B\n").records == [])
    let (records, messages) = try rejected("name,crew\nAnn,B\nCid,\nDan,A\n")
    #expect(records == [])
    #expect(messages.isEmpty)
    let (others, reasons) = try rejected("name,crew\nBob,\nFay,C\n")
    #expect(others == [1, 2])
    #expect(reasons[0].contains("must keep 2 objects in its 'riders' at least"), "\(reasons)")
    #expect(reasons[1].contains("must have 2 objects in its 'riders' at least"), "\(reasons)")
    #expect(try rejected("name,crew\nBob,\nDan,\n").records == [])
  }

  /// The numbers of the objects at both ends differ, so that none can be taken for another.
  @Test(arguments: [0, 7])
  func `Links that are set at the end of a run are rejected in the same way`(_ others: Int) throws {
    try folder.write(
      """
      { "name": "p", "model": "M.xcdatamodel", "store": "s.sqlite", "parts": [
        { "entity": "Session", "source": "a.csv", "key": "note", "duplicates": "update",
          "columns": ["note", { "name": "spot", "attribute": "spot.name", "link": { "ifMissing": "reject" } }] },
        { "entity": "Spot", "source": "b.csv", "key": "name", "duplicates": "update", "columns": ["name"] }] }
      """, to: "p.json")
    try folder.write("note,spot\na,X\nb,Y\nc,X\nd,X\ne,Y\n", to: "a.csv")
    try folder.write("name\n" + (0..<others).map { "Z\($0)\n" }.joined() + "X\nY\n", to: "b.csv")
    let output = try Tool.run("run", "./p.json", "--json", in: folder)
    #expect(output.status == 65, "\(output.messages)")
    let summary = try output.json()
    #expect(summary.counts == Summary.Counts(read: 7 + others, inserted: 6 + others, rejected: 1))
    #expect(summary.issues.listed.map(\.record) == [4])
    #expect(summary.issues.listed.map(\.column) == ["spot"])
    #expect(try rows(Self.sessions) == "X|ac\nY|be\n")
  }
}
