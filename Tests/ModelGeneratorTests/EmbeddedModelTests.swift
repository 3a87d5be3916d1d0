import Foundation
import TestSupport
import Testing

@testable import OpenCoreData

/// The models of a program are found without being announced, and their class names lead to classes.
@Suite struct EmbeddedModelTests {
  @Test func `A model embedded by the build tool plugin is found by its name alone`() throws {
    let model = try #require(EmbeddedModels.model(named: "Harbour"))
    #expect(model.moduleName == "ModelGeneratorTests")
    #expect(EmbeddedModels.model(named: "Harbor") == nil)
    #expect(EmbeddedModels.model(named: "Harbour", inModule: "Elsewhere") == nil)
  }

  @Test func `The version in force is the one that .xccurrentversion names`() throws {
    let model = try #require(EmbeddedModels.model(named: "Harbour"))
    #expect(model.versions.map(\.name) == ["Harbour", "Harbour 2"])
    #expect(model.currentVersion?.name == "Harbour 2")
  }

  @Test func `The embedded XML is the file's, byte for byte`() throws {
    let file = Repository.file("Tests/ModelGeneratorTests/Harbour.xcdatamodeld/Harbour 2.xcdatamodel/contents")
    let xml = try #require(EmbeddedModels.model(named: "Harbour")?.currentVersion?.xml)
    #expect(Data(xml.utf8) == (try Data(contentsOf: file)))
  }

  @Test func `Registering a model again replaces it`() {
    let count = EmbeddedModels.all.count
    registerHarbour()
    #expect(EmbeddedModels.all.count == count)
  }

  struct ClassCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let name: String
    var module: String?
    let expected: NSManagedObject.Type?
  }

  static let classCases = [
    ClassCase(testDescription: "a bare name", name: "Boat", expected: Boat.self),
    ClassCase(testDescription: "Xcode's current product module", name: ".Boat", expected: Boat.self),
    ClassCase(testDescription: "a named module", name: "ModelGeneratorTests.Boat", expected: Boat.self),
    ClassCase(
      testDescription: "a bare name, asked for in its module", name: "Boat", module: "ModelGeneratorTests",
      expected: Boat.self),
    ClassCase(
      testDescription: "a bare name, asked for in another module", name: "Boat", module: "Elsewhere",
      expected: nil),
    ClassCase(testDescription: "another module named", name: "Elsewhere.Boat", expected: nil),
    ClassCase(
      testDescription: "a class written by hand, properties generated", name: "Buoy", expected: Buoy.self),
    ClassCase(testDescription: "a class of which nothing is generated", name: ".Berth", expected: Berth.self),
    ClassCase(
      testDescription: "the same with its module", name: "ModelGeneratorTests.Berth", expected: Berth.self),
    ClassCase(testDescription: "the base class, which belongs to no model", name: "NSManagedObject", expected: nil),
    ClassCase(testDescription: "no such class", name: "Submarine", expected: nil),
    ClassCase(testDescription: "no managed object class", name: "EmbeddedModelTests", expected: nil),
    ClassCase(testDescription: "an empty name", name: "", expected: nil),
  ]

  @Test(arguments: classCases)
  func `A class name of a model leads to the class`(of test: ClassCase) {
    let found: AnyClass? = EmbeddedModels.managedObjectClass(named: test.name, inModule: test.module)
    #expect(found == test.expected)
  }
}
