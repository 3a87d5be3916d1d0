import DefinitionTestSupport
import Foundation
import OpenCoreData
import PipelineEngine
import TestSupport
import Testing

/// A class with opinions of its own. Written by hand, so it is taken to have every hook.
final class StrictSession: NSManagedObject {
  struct Refusal: Error, CustomStringConvertible {
    let description: String
  }

  override func validateForInsert() throws {
    try super.validateForInsert()
    let (location, rating) = (value(forKey: "location") as? String, value(forKey: "rating") as? Int)
    if location == "Secret" { throw Refusal(description: "secret spots stay secret") }
    if location == "Far", rating == 5 {
      throw NSError(
        domain: "Club", code: 7, userInfo: [NSLocalizedDescriptionKey: "nobody goes that far for a five"])
    }
  }

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    try super.validateValue(&value, forKey: key)
    if key == "wind", value as? String == "storm" {
      throw NSError(
        domain: NSCocoaErrorDomain, code: 1550,
        userInfo: [NSLocalizedDescriptionKey: "stay ashore", NSValidationObjectErrorKey: self])
    }
    // Validation may correct a value.
    if key == "wind", value as? String == "N" { value = "north" }
  }
}

@Suite("The model's own rules are part of every import and dry run")
struct ModelRuleTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func model(_ change: (NSEntityDescription) -> Void) -> NSManagedObjectModel {
    let model = RunModel.make()
    model.entities.forEach(change)
    return model
  }

  private static let text = """
    date,location,rating,wind
    2020-01-01,A,1,N
    2020-01-02,Secret,2,
    2020-01-03,Far,4,
    2020-01-04,Far,5,
    2020-01-05,B,3,storm
    2020-01-06,Secret,3,
    2020-01-07,C,3,

    """

  private static let columns = ["date", "location", "rating", "wind"].map { ColumnDefinition($0) }

  private func both(_ model: @autoclosure () -> NSManagedObjectModel, _ text: String, chunkRows: Int = 100)
    async throws -> (real: RunSummary, dry: RunSummary)
  {
    let definition = PipelineDefinition(name: "n", columns: Self.columns, chunkRows: chunkRows, vocabulary: .journal)
    let input = try folder.write(text, to: "log.csv")
    let dry = try await run(definition, .validate, inputs: [input], store: nil, model: model())
    let real = try await run(definition, .import, inputs: [input], store: folder.path("store.sqlite"), model: model())
    return (real, dry)
  }

  @Test("Methods that a class overrides see every entry, and their errors name its record", arguments: [1, 2, 100])
  func overridden(chunkRows: Int) async throws {
    let (real, dry) = try await both(
      model { $0.managedObjectClassName = NSStringFromClass(StrictSession.self) }, Self.text, chunkRows: chunkRows)
    #expect(real.counts == RunCounts(read: 7, inserted: 3, rejected: 4))
    #expect(
      real.issues.listed.map { "\($0.record) \($0.code) \($0.message)" } == [
        "2 model-error secret spots stay secret", "4 model-error nobody goes that far for a five",
        "5 model-error stay ashore", "6 model-error secret spots stay secret",
      ])
    #expect(dry.counts == real.counts)
    #expect(dry.issues == real.issues)
    #expect(
      try sqlite(folder.path("store.sqlite"), "SELECT ZLOCATION, ZRATING, ZWIND FROM ZJOURNALENTRY")
        == "A|1|north\nFar|4|\nC|3|")
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let records: String
    let broken: [UInt64]
    let change: @Sendable (NSEntityDescription) -> Void
    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "not optional", records: "2020-01-01,A,1,\n2020-01-02,,1,\n", broken: [2]) {
      $0.attributesByName["location"]?.isOptional = false
    },
    Case(name: "minimum", records: "2020-01-01,A,0,\n2020-01-02,B,1,\n", broken: [1]) {
      $0.attributesByName["rating"]?.minimumValue = 1
    },
    Case(name: "maximum", records: "2020-01-01,A,6,\n2020-01-02,B,5,\n", broken: [1]) {
      $0.attributesByName["rating"]?.maximumValue = 5
    },
    Case(name: "regular expression", records: "2020-01-01,A,1,nw\n2020-01-02,B,5,North\n", broken: [2]) {
      #expect(throws: Never.self) { [entity = $0] in
        try entity.attributesByName["wind"]?.setRegularExpression("[nesw]+")
      }
    },
  ]

  @Test("Rules of attributes", arguments: cases)
  func attributes(of test: Case) async throws {
    let (real, dry) = try await both(model(test.change), "date,location,rating,wind\n" + test.records)
    #expect(real.issues.listed.map(\.record) == test.broken)
    #expect(real.issues.listed.allSatisfy { $0.code == .modelError && !$0.message.isEmpty })
    #expect(dry.issues == real.issues)
    #expect(dry.counts == real.counts)
  }
}
