import Foundation
import ModelTestSupport
import TestSupport
import Testing

@testable import ManagedObjectModel

/// Damaged archives: bytes flipped, cut off and swapped by a seeded generator. Rule: a store or model that
/// others have damaged gives an error or a model, and never ends the program.
@Suite("Damaged archives give an error or a model", .seeded)
struct ArchiveFuzzTests {
  /// A binary archive with everything that the builder can make.
  private func archive() throws -> Data {
    let builder = ArchiveBuilder()
    let rules = [
      builder.compare(builder.keys("length"), type: 3, with: builder.constant(2)),
      builder.compound(1, [builder.compare(builder.itself, type: 6, with: builder.constant("[a-z]+"))]),
    ]
    let text = builder.object(
      "NSAttributeDescription",
      ["NSAttributeType": 700, "NSDefaultValue": builder.add("a"), "NSValidationPredicates": builder.list(rules)])
    let link = builder.object(
      "NSRelationshipDescription", ["NSMaxCount": 0, "_NSDestinationEntityName": builder.add("Thing")])
    let request = builder.object(
      "NSFetchRequest",
      ["NSEntity": builder.add("Thing"), "NSPredicate": builder.compare(builder.keys("text"), type: 4, with: rules[0])])
    let xml = try thingArchive(
      builder, [("text", text), ("link", link)],
      model: ["NSFetchRequestTemplates": builder.dictionary([("all", request)])])
    let list = try PropertyListSerialization.propertyList(from: xml, format: nil)
    return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
  }

  private func outcome(_ data: Data) -> String {
    do {
      let compiled = try CompiledModel(archive: data)
      _ = compiled.model.entityVersionHashesByName
      return "model"
    } catch {
      return error.description.isEmpty ? "no reason" : "error"
    }
  }

  @Test("flipped and swapped bytes", arguments: Randomness.seeds(3, long: 200))
  func flips(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let whole = try archive()
    #expect(outcome(whole) == "model")
    var outcomes: [String: Int] = [:]
    for _ in 0..<600 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let at = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[at] = .random(in: 0...255, using: &random)
        default: bytes[at] = bytes[Int.random(in: 0..<bytes.count, using: &random)]
        }
      }
      outcomes[outcome(bytes), default: 0] += 1
    }
    #expect(outcomes["no reason"] == nil)
    #expect(Set(outcomes.keys) == ["model", "error"])
  }

  @Test("every length that is cut off, and trailers of every kind")
  func cuts() throws {
    let whole = try archive()
    for length in 0..<whole.count { #expect(outcome(whole.prefix(length)) == "error") }
    for at in whole.count - 32..<whole.count {
      for byte in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
        var bytes = whole
        bytes[at] = byte
        #expect(outcome(bytes) != "no reason")
      }
    }
  }

  @Test(
    "Apple's compiled models with bytes changed", .enabled(if: SharedFiles.arePresent),
    arguments: Randomness.seeds(2, long: 100))
  func realModels(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let file = SharedStore.all[2].folder.appendingPathComponent("SampleModel.momd/SampleModel3.mom")
    let whole = try Data(contentsOf: file)
    var outcomes: Set<String> = []
    for _ in 0..<400 {
      var bytes = whole
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
      outcomes.insert(outcome(bytes))
    }
    #expect(outcomes == ["model", "error"])
  }

  @Test("containers that unfold without end are refused")
  func bomb() {
    // Forty lists, each of the next one twice; then the offsets, and where they are.
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for number in 0..<40 {
      offsets.append(UInt8(bytes.count))
      bytes += [0xA2, UInt8(number + 1), UInt8(number + 1)]
    }
    offsets.append(UInt8(bytes.count))
    bytes.append(0x09)
    let table = UInt8(bytes.count)
    bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
    for number in [41, 0, table] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
    #expect(throws: ArchiveProblem("its containers unfold to too many values")) {
      try BinaryPropertyListReader.read(Data(bytes))
    }
    // A list of itself.
    var circle = Array("bplist00".utf8)
    circle += [0xA1, 0, 8, 0, 0, 0, 0, 0, 0, 1, 1]
    for number in [1, 0, 10] as [UInt8] { circle += [0, 0, 0, 0, 0, 0, 0, number] }
    #expect(throws: ArchiveProblem("its object 0 contains itself")) {
      try BinaryPropertyListReader.read(Data(circle))
    }
  }

  @Test("binary lists are read as another program wrote them")
  func otherWriter() throws {
    let script = """
      import plistlib, sys
      value = {"a": [1, -2, 2**40, True, 0.5, "ä", "x" * 300, b"\\x01" * 20, plistlib.UID(70000)], "b": {}}
      sys.stdout.write(plistlib.dumps(value, fmt=plistlib.FMT_BINARY).hex())
      """
    let digits = Array(try Programs.output(of: ["python3", "-c", script]).utf8)
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
    }
    let list: [ArchiveValue] = [
      .integer(1), .integer(-2), .integer(1 << 40), .flag(true), .real(0.5), .text("ä"),
      .text(String(repeating: "x", count: 300)), .data(Data(repeating: 1, count: 20)), .reference(70000),
    ]
    let read = try BinaryPropertyListReader.read(Data(bytes))
    #expect(read == .dictionary(["a": .list(list), "b": .dictionary([:])]))
  }
}
