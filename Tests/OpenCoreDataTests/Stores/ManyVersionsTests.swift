import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// Versions of a model are left out if they have an entity whose text is known not to fit; the version
/// that is found is the store's nevertheless.
@Suite(.seeded) struct ManyVersionsTests {
  private static let names = ["Root", "Leaf", "Other", "Twig"]

  /// Each entity has a number of attributes; Leaf inherits from Root, Twig from Leaf.
  private static func xml(_ counts: [Int]) -> String {
    let entities = zip(names, counts).map { name, count in
      let attributes = (0..<count).map {
        "<attribute name=\"\(name.lowercased())\($0)\" optional=\"YES\" attributeType=\"String\"/>"
      }
      let parent = name == "Leaf" ? " parentEntity=\"Root\"" : name == "Twig" ? " parentEntity=\"Leaf\"" : ""
      return "<entity name=\"\(name)\"\(parent)>\(attributes.joined())</entity>"
    }
    return "<model>\(entities.joined())</model>"
  }

  @Test(arguments: Randomness.seeds(3, long: 60))
  func `The version of the store is found among those that differ in one entity or another`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let folder = try TemporaryFolder()
    var versions: [[Int]] = []
    while versions.count < 25 {
      var next = versions.last ?? [1, 1, 1, 1]
      next[Int.random(in: 0..<4, using: &random)] = Int.random(in: 1...4, using: &random)
      if !versions.contains(next) { versions.append(next) }
    }
    for (number, counts) in versions.enumerated() {
      try folder.makeFolder("M.xcdatamodeld/M \(number).xcdatamodel")
      try folder.write(Self.xml(counts), to: "M.xcdatamodeld/M \(number).xcdatamodel/contents")
    }
    try folder.write(
      "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>M 24.xcdatamodel</string></dict></plist>",
      to: "M.xcdatamodeld/.xccurrentversion")
    let package = folder.file("M.xcdatamodeld")
    for (number, counts) in versions.enumerated() where number % 4 == 0 {
      let file = folder.file("\(number).sqlite")
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try .load(xml: Data(Self.xml(counts).utf8)))
      try coordinator.remove(
        coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file))
      let found = try StoreModel.find(forStoreAt: file, file: package, embedded: [])
      #expect(found.origin == .file(version: "M \(number)") && found.notes.isEmpty, "seed \(seed), version \(number)")
    }
    // A store of none of them is distinguished from all.
    let file = folder.file("none.sqlite")
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: try .load(xml: Data(Self.xml([5, 1, 1, 1]).utf8)))
    try coordinator.remove(
      coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file))
    let found = try StoreModel.find(forStoreAt: file, file: package, embedded: [])
    #expect(found.notes.first?.contains("none of its 25 versions has the hashes") == true)
  }
}
