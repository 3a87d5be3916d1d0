import Foundation
import TestSupport
import Testing

/// What `plan` refuses because of links, keys and parts says why, and what the message advises works.
@Suite(.enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct PlanAdviceTests {
  struct Case: Sendable, CustomTestStringConvertible {
    /// A part of it.
    let message: String
    var testDescription: String { message }
    /// Changes of the model: texts, and what takes their places.
    var model: [(text: String, new: String)] = []
    var key = ""
    var link = "\"ifMissing\": \"create\", \"ifDifferent\": \"keep\""
    /// What the message advises for the key and the link; nil for an import with one run.
    var advised: (key: String, link: String)?
    /// Whether records also name boards.
    var hasBoards = false
  }

  private static let update = "\"key\": \"notes\", \"duplicates\": \"update\","
  private static let skip = "\"key\": \"notes\", \"duplicates\": \"skip\","
  private static let newest =
    "\"key\": \"notes\", \"duplicates\": { \"policy\": \"keepNewest\", \"by\": \"rating\" },"
  private static let creating = "\"ifMissing\": \"create\", \"ifDifferent\": \"keep\""
  private static let rejecting = "\"ifMissing\": \"reject\", \"ifDifferent\": \"keep\""
  private static let leaving = "\"ifMissing\": \"leave\", \"ifDifferent\": \"keep\""
  private static let sessionsOfSpot = "name=\"sessions\" optional=\"YES\" toMany=\"YES\""

  private static let owners = """
    <relationship name="owners" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Session" inverseName="boards" inverseEntity="Session"/>
    """
  private static let constraint = """
    <uniquenessConstraints><uniquenessConstraint><constraint value="country"/></uniquenessConstraint>
    </uniquenessConstraints>
    """

  private static let cases = [
    Case(
      message: "each Spot can belong to one Session only",
      model: [(sessionsOfSpot, "name=\"sessions\" optional=\"YES\" maxCount=\"1\"")]),
    Case(
      message: "'sessions' of Spot is a list in the order of the records",
      model: [(sessionsOfSpot, sessionsOfSpot + " ordered=\"YES\"")]),
    Case(
      message: "the model limits 'sessions' of Spot",
      model: [(sessionsOfSpot, sessionsOfSpot + " maxCount=\"50\"")]),
    Case(
      message: "each Board can belong to one Session only",
      model: [(" inverseName=\"owners\" inverseEntity=\"Board\"", ""), (owners, "")], hasBoards: true),
    Case(
      message: "the model restricts 'country' of Spot",
      model: [("name=\"country\"", "name=\"country\" minValueString=\"2\"")]),
    Case(
      message: "the model has a uniqueness constraint for Spot (country)",
      model: [("<!-- constraints -->", constraint)], advised: ("", "\"by\": \"country\", \(creating)")),
    Case(
      message: "records change the Spot that they lead to",
      link: "\"ifMissing\": \"create\", \"ifDifferent\": \"update\"",
      advised: ("", creating)),
    Case(
      message: "a record with other values than the Spot that an earlier one has created is rejected",
      link: "\"ifMissing\": \"create\"", advised: ("", creating)),
    Case(
      message: "a record that names a missing Spot leaves", key: update, link: leaving,
      advised: (update, rejecting)
    ),
    Case(message: "because of its key creates no Spot", key: skip, advised: (update, creating)),
    Case(message: "because of its key creates no Spot, ", key: newest, advised: (newest, rejecting)),
    Case(
      message: "because of its key is not compared with its Spot", key: skip, link: "\"ifMissing\": \"reject\"",
      advised: (skip, rejecting)),
    Case(
      message: "of two records with the same key the second one would be rejected",
      key: "\"key\": \"notes\",", link: rejecting, advised: (skip, rejecting)),
  ]

  private static let model = """
    <?xml version="1.0" encoding="UTF-8"?>
    <model userDefinedModelVersionIdentifier="">
      <entity name="Session" representedClassName="Session">
        <attribute name="rating" optional="YES" attributeType="Integer 16" usesScalarValueType="NO"/>
        <attribute name="notes" optional="YES" attributeType="String"/>
        <relationship name="spot" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Spot" inverseName="sessions" inverseEntity="Spot"/>
        <relationship name="boards" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Board" inverseName="owners" inverseEntity="Board"/>
      </entity>
      <entity name="Spot" representedClassName="Spot">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="country" optional="YES" attributeType="String"/>
        <relationship name="sessions" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Session" inverseName="spot" inverseEntity="Session"/>
        <!-- constraints -->
      </entity>
      <entity name="Board" representedClassName="Board">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="owners" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Session" inverseName="boards" inverseEntity="Session"/>
      </entity>
    </model>
    """

  private static func pipeline(_ key: String, _ link: String, hasBoards: Bool) -> String {
    let boards =
      hasBoards
      ? ", { \"name\": \"boards\", \"attribute\": \"boards.name\", \"link\": { \"ifMissing\": \"create\", \"separator\": \";\" } }"
      : ""
    return """
      {
        "name": "sessions", "model": "Log.xcdatamodel", "entity": "Session", \(key)
        "extraColumns": "ignore",
        "columns": [
          "rating", "notes", { "name": "spot", "attribute": "spot.name", "link": { \(link) } },
          { "name": "country", "attribute": "spot.country" }\(boards)
        ]
      }
      """
  }

  private let world: PlannedImport
  init() throws { world = try PlannedImport() }

  private func plan(_ files: String...) throws -> ProgramOutput {
    try Programs.run(
      Tool.url.path, ["plan", "./nightly.json"] + files + ["--store", world.address, "--quiet"], in: world.folder)
  }

  /// Imports what is planned.
  private func complete(_ plan: ProgramOutput) throws {
    #expect(plan.status == 0, "\(plan.messages)")
    let id = plan.text.trimmingCharacters(in: .newlines)
    #expect(try world.run("work", "--plan", id, "--store", world.address, "--quiet").status == 0)
    let report = try world.run("report", "--plan", id, "--store", world.address, "--quiet")
    #expect([0, 65].contains(report.status), "\(report.messages)")
  }

  @Test(arguments: cases)
  private func `What can't be shared is refused with the reason, and the advice works`(_ one: Case) throws {
    try world.folder.makeFolder("Log.xcdatamodel")
    var model = Self.model
    for (text, new) in one.model {
      #expect(model.contains(text))
      model = model.replacingOccurrences(of: text, with: new)
    }
    try world.folder.write(model, to: "Log.xcdatamodel/contents")
    try world.folder.write(
      "rating,notes,spot,country,boards\n3,a,Rincon,US,Fish;Log\n4,b,Bells,AU,\n5,a,Pico,FR,Log\n", to: "a.csv")
    try world.folder.write(Self.pipeline(one.key, one.link, hasBoards: one.hasBoards), to: "nightly.json")
    let refused = try plan("a.csv")
    #expect(refused.status == 78 && refused.messages.contains(one.message), "\(refused.messages)")
    guard let advised = one.advised else {
      #expect(refused.messages.contains("import it with 'import'"))
      let output = try world.run("import", "a.csv", "--pipeline", "./nightly.json", "--store", world.address, "--quiet")
      #expect([0, 65].contains(output.status), "\(output.messages)")
      return
    }
    try world.folder.write(Self.pipeline(advised.key, advised.link, hasBoards: false), to: "nightly.json")
    try complete(try plan("a.csv"))
  }

  @Test func `Files with other columns of related objects are planned one after the other`() throws {
    try world.folder.makeFolder("Log.xcdatamodel")
    try world.folder.write(Self.model, to: "Log.xcdatamodel/contents")
    let pipeline = Self.pipeline(Self.update, Self.creating, hasBoards: false)
    try world.folder.write(
      pipeline.replacingOccurrences(of: "\"extraColumns\"", with: "\"missingColumns\": \"ignore\", \"extraColumns\""),
      to: "nightly.json")
    try world.folder.write("rating,notes,spot,country\n3,a,Rincon,US\n", to: "a.csv")
    try world.folder.write("rating,notes\n4,a\n", to: "b.csv")
    let refused = try plan("a.csv", "b.csv")
    #expect(
      refused.status == 78 && refused.messages.contains("b.csv has other columns that lead to objects than a.csv"),
      "\(refused.messages)")
    try complete(try plan("a.csv"))
    try complete(try plan("b.csv"))
    #expect(
      try world.psql("SELECT \"ZRATING\", \"ZNAME\" FROM \"ZSESSION\" JOIN \"ZSPOT\" s ON s.\"Z_PK\" = \"ZSPOT\"")
        == "4|Rincon")
  }

  private static let boards = """
    { "entity": "Session", "source": "a.csv", "columns": [
      "notes", { "name": "boards", "attribute": "boards.name", "link": { "ifMissing": "create", "separator": ";" } }] }
    """
  private static let keyedBoards = """
    { "entity": "Board", "source": "boards.csv", "key": "name", "duplicates": "update", "columns": ["name"] }
    """
  private static let spots = """
    { "entity": "Session", "source": "a.csv", "columns": [
      "notes", { "name": "spot", "attribute": "spot.name", "link": { "ifMissing": "create", "ifDifferent": "keep" } },
      { "name": "country", "attribute": "spot.country" }] }
    """
  private static let trips = """
    { "entity": "Trip", "source": "trips.csv", "columns": [
      "name", { "name": "country", "attribute": "spot.country", "link": { "ifMissing": "leave" } }] }
    """

  @Test(arguments: [
    ("the part of Session imports or creates Board entries too", [boards, keyedBoards]),
    ("whose 'country' is known when the plan is reported", [spots, trips]),
  ])
  func `Parts that need what an earlier one has not settled are planned one after the other`(
    message: String, parts: [String]
  ) throws {
    try world.folder.makeFolder("Log.xcdatamodel")
    let (trip, end) = (
      """
      <entity name="Trip" representedClassName="Trip">
          <attribute name="name" optional="YES" attributeType="String"/>
          <relationship name="spot" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Spot" inverseName="trips" inverseEntity="Spot"/>
        </entity>
      </model>
      """,
      """
      <relationship name="trips" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Trip" inverseName="spot" inverseEntity="Trip"/>
      """
    )
    try world.folder.write(
      Self.model.replacingOccurrences(of: "</model>", with: trip).replacingOccurrences(
        of: "<!-- constraints -->", with: end),
      to: "Log.xcdatamodel/contents")
    try world.folder.write("notes,spot,country,boards\na,Rincon,US,Fish;Log\n", to: "a.csv")
    try world.folder.write("name\nFish\nGun\n", to: "boards.csv")
    try world.folder.write("name,country\nSummer,US\n", to: "trips.csv")
    func write(_ parts: [String]) throws {
      let text = parts.joined(separator: ", ")
      try world.folder.write(
        "{ \"name\": \"log\", \"model\": \"Log.xcdatamodel\", \"extraColumns\": \"ignore\", \"parts\": [\(text)] }",
        to: "nightly.json")
    }
    try write(parts)
    let refused = try plan()
    #expect(refused.status == 78 && refused.messages.contains(message), "\(refused.messages)")
    #expect(refused.messages.contains("plan the parts one after the other"))
    for part in parts {
      try write([part])
      try complete(try plan())
    }
  }
}
