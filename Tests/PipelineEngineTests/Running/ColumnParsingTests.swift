import CSV
import DefinitionTestSupport
import Foundation
import OpenCoreData
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Chunks taken column after column are what the same records make one by one: the same entries of the same records,
/// the same issues in the same order.
@Suite struct ColumnParsingTests {
  /// Texts of one column: ordinary ones and whatever else a file may have there.
  private static let texts: [String: [String]] = [
    "date": [
      "2014-07-14T07:30:00Z", "2014-07-14", "7/14/14", "", " 2014-07-14 ", "2014-02-30", "2999-01-01", "1899-12-31",
      "0000-01-01", "2014-07-14T07:30:00.5Z", "x", "\"2014-07-14\"",
    ],
    "name": [
      "Rincon", "", " ", " Malibu", "ünïcödé", "\"a \"\"b\"\"\"", "🌊🌊🌊🌊🌊", "ab", "abcdefghij", "abcdefghijk", "\t",
    ],
    "note": ["ok", "", "fine", "bad", "\"with, comma\"", "ok "],
    "count": ["1", "0", "-3", "+4", "", "32768", "99999999999999999999", " 7", "1.0", "5"],
    "size": ["1.5", "-0", "1e3", "", "1e400", "abc", " 2.5 ", "0.1", "100.1"],
    "flag": ["true", "no", "1", "", "maybe"],
  ]

  private static let names = ["date", "name", "note", "count", "size", "flag"]

  private static let entity: NSEntityDescription = {
    let types: [NSAttributeType] = [
      .dateAttributeType, .stringAttributeType, .stringAttributeType, .integer16AttributeType, .doubleAttributeType,
      .booleanAttributeType,
    ]
    let entity = NSEntityDescription()
    entity.name = "Entry"
    entity.properties = zip(names, types).map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      return attribute
    }
    return entity
  }()

  private static let definition = PipelineDefinition(
    name: "test",
    columns: [
      ColumnDefinition(
        "date", formats: ["iso8601", "journal-app"],
        rules: [ValueRule(.required), ValueRule(.notBefore("1900-01-01")), ValueRule(.notInFuture)]),
      ColumnDefinition("name", rules: [ValueRule(.required), ValueRule(.length(min: 2, max: 10))]),
      ColumnDefinition("note", rules: [ValueRule(.oneOf(["ok", "fine", "with, comma"]), severity: .warning)]),
      ColumnDefinition("count", rules: [ValueRule(.range(min: -3, max: 5))]),
      ColumnDefinition("size", rules: [ValueRule(.range(min: -10, max: 1000), severity: .warning)]),
      ColumnDefinition("flag"),
    ], vocabulary: .journal)

  private static func text(records: Int, dirtyPercent: Int, _ generator: inout SeededGenerator) -> String {
    var lines = [names.joined(separator: ",")]
    for _ in 0..<records {
      var fields = names.map { name in
        let texts = texts[name] ?? []
        return Int.random(in: 0..<100, using: &generator) < dirtyPercent
          ? texts.randomElement(using: &generator) ?? "" : texts[0]
      }
      switch Int.random(in: 0..<400, using: &generator) {
      case 0: fields.removeLast()
      case 1: fields.append("more")
      case 2: fields = fields.map { _ in "" }
      default: break
      }
      lines.append(fields.joined(separator: ","))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  @Test(.seeded, arguments: [0, 1, 10, 60], Randomness.seeds(5, long: 200))
  func `Columns and records agree`(dirtyPercent: Int, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let text = Self.text(records: 500, dirtyPercent: dirtyPercent, &generator)
    let reader = try CSVReader(ByteSource(bytes: Array(text.utf8)), dialect: .csv)
    let header = try #require(try reader.readHeader())
    let columns = try ColumnSet(Self.definition, types: Self.entity.columnTypes, now: Date())
    let mapping = HeaderMapping(
      labels: header.names, columns: columns.definitions,
      at: RecordPosition(input: "t", record: 0, line: 1, byte: 0))
    var parser = ChunkParser(
      input: "t", definition: Self.definition, columns: columns, mapping: mapping, entity: Self.entity,
      takesDefaults: false, digester: RowDigester())
    var block = RecordBlock()
    var rows = 0
    while try reader.next(into: &block, recordsMax: 120) {
      let chunk = parser.parse(block)
      let expected = parser.parseByRecords(block)
      #expect(chunk.recordOfRow == expected.recordOfRow)
      #expect(chunk.rejected == expected.rejected)
      #expect(Array(chunk.issues) == Array(expected.issues))
      #expect(chunk.batch.count == expected.batch.count)
      for row in 0..<min(chunk.batch.count, expected.batch.count) {
        #expect(chunk.batch.values(row: row) == expected.batch.values(row: row))
      }
      rows += expected.batch.count
    }
    #expect(dirtyPercent > 0 || rows > 470)
  }
}
