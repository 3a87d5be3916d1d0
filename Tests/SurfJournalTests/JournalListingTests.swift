import Foundation
import SurfJournal
import TestSupport
import Testing

/// Lists of entries: what is in them and in what order, in pieces of any size, in three forms.
@Suite struct JournalListingTests {
  private let folder: TemporaryFolder

  init() async throws {
    folder = try TemporaryFolder()
    try await folder.makeStore("s", entries: 12)
  }

  private func list(
    _ query: Journal.Query = Journal.Query(), _ format: JournalListing.Format = .text, rowsPerBatch: Int = 1000
  ) throws -> String {
    let journal = try Journal(store: folder.path("s"))
    defer { journal.close() }
    var listing = JournalListing(format)
    var text = ""
    try journal.walk(query, rowsPerBatch: rowsPerBatch) { records in
      #expect(records.count <= rowsPerBatch)
      text += (try? listing.next(records)) ?? "?"
      return true
    }
    return text + (try listing.end())
  }

  private func ids(_ query: Journal.Query) throws -> [Int] {
    try list(query, .csv).split(separator: "\n").dropFirst().compactMap { Int($0.prefix { $0 != "," }) }
  }

  @Test func `The newest come first, those without a date last`() throws {
    var changes = JournalChanges()
    try changes.clear("date")
    try JournalEditor(store: folder.path("s")).edit("12", changes).save()
    #expect(try ids(Journal.Query()) == [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 12])
  }

  @Test func `An order, a predicate and a limit are kept`() throws {
    var query = Journal.Query()
    query.sort = [.init("rating", ascending: true), .init("date", ascending: false)]
    query.predicate = "rating <= 2"
    #expect(try ids(query) == [10, 5, 11, 6, 1])
    query.limit = 2
    #expect(try ids(query) == [10, 5])
    query.limit = 0
    #expect(try ids(query) == [])
  }

  @Test(arguments: ["rating >", "ratin = 3", "rating = 'x'"])
  func `A predicate that does not fit is a mistake`(_ predicate: String) throws {
    var query = Journal.Query()
    query.predicate = predicate
    let error = #expect(throws: JournalError.self) { try query.check() }
    #expect(error?.code == .badQuery)
    #expect(error?.exitCode == .usage)
  }

  @Test func `Columns stand below each other`() throws {
    var query = Journal.Query()
    query.sort = [.init("date")]
    query.limit = 2
    #expect(
      try list(query) == """
        id  date                  height  period  wind    location  rating
        1   2013-09-05T15:06:40Z  3.9     12      Glassy  Place 1   2
        2   2013-09-06T15:06:40Z  3.9     12      Glassy  Place 2   3

        """)
  }

  @Test func `Long texts are shortened for a terminal, and whole elsewhere`() throws {
    var changes = JournalChanges()
    let long = String(repeating: "x", count: 100)
    try changes.set("location", to: long)
    try JournalEditor(store: folder.path("s")).edit("12", changes).save()
    #expect(try list().contains(String(repeating: "x", count: 39) + "…  3\n"))
    #expect(try list(Journal.Query(), .csv).contains(long))
    #expect(try list(Journal.Query(), .json).contains(long))
  }

  @Test(arguments: JournalListing.Format.allCases, [1, 5, 12])
  func `The pieces make the same whole`(_ format: JournalListing.Format, _ rowsPerBatch: Int) throws {
    let whole = try list(Journal.Query(), format)
    let pieces = try list(Journal.Query(), format, rowsPerBatch: rowsPerBatch)
    // A terminal's columns grow with what comes.
    let fold = { (text: String) in text.split { $0 == " " }.joined(separator: " ") }
    #expect(format == .text ? fold(pieces) == fold(whole) : pieces == whole)
  }

  @Test func `JSON has every attribute, null where there is none`() throws {
    var changes = JournalChanges()
    try changes.clear("wind")
    try JournalEditor(store: folder.path("s")).edit("12", changes).save()
    let text = try list(Journal.Query(), .json)
    let entries = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    #expect(entries.count == 12)
    #expect(Set(entries[0].keys) == Set(["id", "uri"] + JournalRecord.attributes))
    #expect(entries[0]["id"] as? Int == 12)
    #expect(entries[0]["wind"] is NSNull)
    #expect(entries[0]["rating"] as? Int == 3)
  }

  @Test func `Nothing is an empty list in each form`() throws {
    var query = Journal.Query()
    query.predicate = "FALSEPREDICATE"
    #expect(try list(query) == "")
    #expect(try list(query, .csv) == "id,date,height,period,wind,location,rating\n")
    #expect(try list(query, .json) == "[]\n")
  }

  @Test func `Who has enough is given no more`() throws {
    let journal = try Journal(store: folder.path("s"))
    defer { journal.close() }
    var count = 0
    try journal.walk(rowsPerBatch: 2) { _ in
      count += 1
      return count < 3
    }
    #expect(count == 3)
  }

  @Test func `Reading leaves every byte as it is`() throws {
    let before = try folder.contents
    _ = try list()
    let journal = try Journal(store: folder.path("s"))
    #expect(try journal.entry("3")["location"] == .text("Place 3"))
    #expect(throws: JournalError.self) { try journal.entry("13") }
    journal.close()
    #expect(try folder.contents == before)
  }

  @Test func `A store that is not there is named`() throws {
    let error = #expect(throws: JournalError.self) { try Journal(store: folder.path("none")) }
    #expect(error?.code == .storeMissing)
    #expect(error?.exitCode == .noInput)
    #expect(try folder.names == ["s"])
  }
}
