import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

@Suite("Mapping model files are read whole or refused", .seeded)
struct MappingFileFuzzTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// The inferred mapping of a random change, read back from both kinds of files.
  private func readBack(
    seed: UInt64, spoiling: Bool = false
  ) throws -> (expected: [String], compiled: [String], source: [String]) {
    var random = SeededGenerator(seed: seed)
    let former = FuzzModel.random(&random)
    var changed = former
    for _ in 0..<Int.random(in: 0...8, using: &random) { changed.change(&random) }
    let (old, new) = (former.build(), changed.build(after: former))
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    let expected = MappedVersions.text(mapping)
    if spoiling {
      let filled = mapping.entityMappings.first { $0.attributeMappings?.isEmpty == false }
      filled?.attributeMappings?.removeFirst()
    }
    try MappingFileWriter.compiled(mapping).write(to: folder.file("A.cdm"))
    let xml = try MappingFileWriter.source(mapping, from: old, to: new) { _, property in
      property.sourceName == property.name && property.valueExpression?.relatedSource == nil
        && Bool.random(using: &random)
    }
    let source = try MappingFileWriter.write(xml, to: "A.xcmappingmodel", in: folder)
    return (
      expected, MappedVersions.text(try NSMappingModel.load(contentsOf: folder.file("A.cdm"))),
      MappedVersions.text(try NSMappingModel.load(contentsOf: source))
    )
  }

  /// The type of an entity mapping, which a source does not have, is the second word of its line.
  private func withoutTypes(_ lines: [String]) -> [String] {
    lines.map { line in
      guard !line.hasPrefix(" ") else { return line }
      var words = line.split(separator: " ")
      words.remove(at: 1)
      return words.joined(separator: " ")
    }
  }

  @Test("What a random mapping model says is read from its files", arguments: Randomness.seeds(8, long: 2000))
  func agreement(seed: UInt64) throws {
    let (expected, compiled, source) = try readBack(seed: seed)
    #expect(compiled == expected, "seed \(seed)")
    #expect(withoutTypes(source) == withoutTypes(expected), "seed \(seed)")
  }

  @Test("A property that a file lacks is seen")
  func canary() throws {
    let spoiled = try (1...8).map { try readBack(seed: UInt64($0), spoiling: true) }
    #expect(spoiled.contains { $0.compiled != $0.expected && withoutTypes($0.source) != withoutTypes($0.expected) })
  }

  @Test(
    "A damaged file is an error or another mapping model, never a stop", arguments: Randomness.seeds(15, long: 4000))
  func damage(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let xml = try PropertyListSerialization.propertyList(from: MappedVersions.compiled(), format: nil)
    let binary = try PropertyListSerialization.data(fromPropertyList: xml, format: .binary, options: 0)
    for (name, whole) in [("A.cdm", binary), ("xcmapping.xml", Data(try MappedVersions.source().utf8))] {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      if Int.random(in: 0..<3, using: &random) == 0 {
        bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))
      }
      try bytes.write(to: folder.file(name))
      do {
        _ = try NSMappingModel.load(contentsOf: folder.file(name))
      } catch {
        #expect((error as NSError).domain == NSCocoaErrorDomain, "seed \(seed)")
      }
    }
  }
}
