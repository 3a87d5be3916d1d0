import Foundation
import OpenCoreData
import PipelineEngine
import SurfJournal
import TestSupport
import Testing

/// Entries are edited on a scratch pad (Core Data Programming Guide: "Use child contexts as scratch pads"; a save goes
/// one level up, NSManagedObjectContext `save()`):
/// - nothing of an edit is in the store before it is saved, or ever if it is discarded;
/// - a save goes up the whole chain, and is in the store whole or not at all;
/// - optimistic locking counts from the moment at which the entry was read, not from the save (133020);
/// - a run that has the store is not waited for; values are validated as an import validates them.
@Suite struct JournalEditorTests {
  private let folder: TemporaryFolder
  private let editor: JournalEditor

  init() async throws {
    folder = try TemporaryFolder()
    try await folder.makeStore("s", entries: 3)
    editor = JournalEditor(store: folder.path("s"))
  }

  private static func changes(_ values: [String: String]) throws -> JournalChanges {
    var changes = JournalChanges()
    for (attribute, text) in values { try changes.set(attribute, to: text) }
    return changes
  }

  @Test func `The attributes are those of the entity`() throws {
    let entity = NSManagedObjectModel.embedded(named: "SurfJournalModel")?.entitiesByName["JournalEntry"]
    #expect(JournalRecord.attributes.sorted() == entity?.attributesByName.keys.sorted())
  }

  @Test func `An edit is nowhere before it is saved, and in the store afterwards`() throws {
    let before = try folder.entries("s")
    let edit = try editor.edit("2", try Self.changes(["rating": "5", "wind": "Offshore"]))
    #expect(try folder.entries("s") == before)
    #expect(edit.entries.map(\.changedAttributes) == [["wind", "rating"]])
    #expect(edit.entries[0].before == before[2])
    try edit.save()
    var expected = before
    expected[2] = edit.entries[0].after
    #expect(try folder.entries("s") == expected)
    #expect(expected[2]?["rating"] == .number(5))
    #expect(expected[2]?["location"] == .text("Place 2"))
    #expect(try folder.names == ["s"])
  }

  @Test(arguments: ["add", "edit", "delete"])
  func `What is discarded was never there`(_ action: String) throws {
    let before = try folder.contents
    for isDryRun in [false, true] {
      let editor = JournalEditor(store: folder.path("s"), isDryRun: isDryRun)
      let edit =
        switch action {
        case "add": try editor.add(try Self.changes(["rating": "5"]))
        case "edit": try editor.edit("1", try Self.changes(["rating": "5"]))
        default: try editor.delete(["1", "3"])
        }
      #expect(!edit.isEmpty)
      edit.discard()
      #expect(try folder.contents == before)
    }
  }

  @Test func `One that is released is discarded`() throws {
    let before = try folder.contents
    do { _ = try editor.edit("1", try Self.changes(["rating": "5"])) }
    #expect(try folder.contents == before)
  }

  @Test func `A new entry has what was given, and nil for all else`() throws {
    let saved = try editor.add(try Self.changes(["date": "7/14/14", "location": "Rincon"])).save()
    #expect(saved.map { $0.after?.id } == [4])
    let entry = try #require(try folder.entries("s")[4])
    #expect(entry == saved[0].after)
    #expect(entry["date"].text == "2014-07-14T00:00:00Z")
    #expect(entry["location"] == .text("Rincon"))
    // The model's default of 0 is the app's.
    for attribute in ["height", "period", "wind", "rating"] { #expect(entry[attribute] == .none) }
  }

  @Test func `A new entry makes the store that is not there, when it is saved`() throws {
    let editor = JournalEditor(store: folder.path("new/t"))
    try editor.add(try Self.changes(["rating": "1"])).discard()
    #expect(try folder.names == ["s"])
    try editor.add(try Self.changes(["rating": "1"])).save()
    #expect(try folder.entries("new/t").mapValues { $0["rating"] } == [1: .number(1)])
  }

  @Test func `Entries are named by number or URI, each counts once`() throws {
    let uri = try #require(try folder.entries("s")[3]?.uri)
    let edit = try editor.delete(["p1", uri, "1"])
    #expect(edit.entries.map(\.before?.id) == [1, 3])
    try edit.save()
    #expect(try folder.entries("s").keys.sorted() == [2])
  }

  @Test(arguments: ["0", "-1", "one", "1.0", "", "p", "99999999999999999999", "x-coredata://other/JournalEntry/p1"])
  func `What names no entry is refused`(_ id: String) throws {
    let error = #expect(throws: JournalError.self) { try editor.delete(["1", id]) }
    #expect(error?.code == .badID)
    #expect(error?.exitCode == .usage)
  }

  @Test func `Of several entries all are deleted or none`() throws {
    let before = try folder.contents
    let error = #expect(throws: JournalError.self) { try editor.delete(["1", "9"]) }
    #expect(error?.code == .entryMissing)
    #expect(error?.exitCode == .noInput)
    #expect(try folder.contents == before)
  }

  @Test func `An edit that changes nothing is empty`() throws {
    #expect(try editor.edit("1", try Self.changes(["location": "Place 1", "rating": "2"])).isEmpty)
  }

  @Test func `A value is taken away`() throws {
    var changes = JournalChanges()
    try changes.clear("height")
    try changes.set("wind", to: "")
    try editor.edit("1", changes).save()
    let entry = try #require(try folder.entries("s")[1])
    #expect(entry["height"] == .none)
    #expect(entry["wind"] == .none)
    #expect(entry["period"] == .text("12"))
  }

  static let badValues: [(attribute: String, text: String, message: String)] = [
    ("rating", "6", "must be 1 to 5"), ("rating", "good", "whole number"), ("rating", "2.5", "whole number"),
    ("date", "2015-02-30", "no such day"), ("date", "soon", "not a date"), ("date", "2999-01-01", "future"),
    ("date", "1899-12-31", "before 1900-01-01"), ("date", "", "every record needs it"),
    ("wind", String(repeating: "w", count: 1001), "1001 characters"),
  ]

  @Test(arguments: badValues)
  func `A value that an import would reject is not a value here either`(
    _ attribute: String, text: String, message: String
  ) throws {
    var changes = JournalChanges()
    let error = #expect(throws: JournalError.self) { try changes.set(attribute, to: text) }
    #expect(error?.code == .badValue)
    #expect(error?.exitCode == .dataError)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(changes.isEmpty)
  }

  @Test func `There is no other attribute`() throws {
    var changes = JournalChanges()
    let error = #expect(throws: JournalError.self) { try changes.clear("locaton") }
    #expect(error?.code == .badAttribute)
    #expect(error?.message.contains("did you mean 'location'?") == true)
  }

  @Test(arguments: ["edit", "delete"])
  func `Who reads, waits and saves notices that another was quicker`(_ action: String) throws {
    let slow =
      action == "edit" ? try editor.edit("2", try Self.changes(["rating": "1"])) : try editor.delete(["1", "2"])
    try editor.edit("2", try Self.changes(["wind": "Onshore"])).save()
    let before = try folder.entries("s")
    let error = #expect(throws: JournalError.self) { try slow.save() }
    #expect(error?.code == .conflict)
    #expect(error?.exitCode == .temporaryFailure)
    #expect(error?.message.contains("entry 2 of") == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("133020") == true)
    #expect(try folder.entries("s") == before)
  }

  @Test func `An entry that was deleted meanwhile can't be edited, and need not be deleted again`() throws {
    let edit = try editor.edit("2", try Self.changes(["rating": "1"]))
    let deletion = try editor.delete(["2"])
    try editor.delete(["2"]).save()
    #expect(throws: JournalError.self) { try edit.save() }
    try deletion.save()
    #expect(try folder.entries("s").keys.sorted() == [1, 3])
  }

  @Test func `Edits of different entries do not hinder each other`() throws {
    let first = try editor.edit("1", try Self.changes(["rating": "1"]))
    let second = try editor.edit("2", try Self.changes(["rating": "1"]))
    try second.save()
    try first.save()
    #expect(try folder.entries("s").mapValues { $0["rating"] } == [1: .number(1), 2: .number(1), 3: .number(4)])
  }

  @Test func `A run that has the store is not waited for; the edit can be saved when it is over`() throws {
    let edit = try editor.edit("1", try Self.changes(["rating": "1"]))
    let run = try RunLock(storePath: folder.path("s"), pipeline: "nightly", now: Date())
    let error = #expect(throws: JournalError.self) { try edit.save() }
    #expect(error?.code == .locked)
    #expect(error?.exitCode == .temporaryFailure)
    #expect(error?.message.contains("pipeline nightly") == true)
    run.release()
    try edit.save()
    #expect(try folder.entries("s")[1]?["rating"] == .number(1))
    #expect(try folder.names == ["s"])
  }

  @Test func `The difference shows what stays, goes and comes`() throws {
    var changes = try Self.changes(["rating": "5", "location": "A\nB"])
    try changes.clear("height")
    let edit = try editor.edit("1", changes)
    #expect(
      edit.entries[0].difference == """
        entry 1
          date      2013-09-05T15:06:40Z
        - height    3.9
          period    12
          wind      Glassy
        - location  Place 1
        + location  A\\u{0A}B
        - rating    2
        + rating    5

        """)
    edit.discard()
  }
}
