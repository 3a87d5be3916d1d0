import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

@Suite("Mapping models that Xcode wrote")
struct MappingFileRealTests {
  private static let folder = SharedFiles.folder.appendingPathComponent("mappings", isDirectory: true)
  private static var arePresent: Bool { FileManager.default.fileExists(atPath: folder.path) }
  private static let absenceComment: Comment = "needs ../shared/mappings (or SURFJOURNAL_SHARED), which a clone lacks"

  private func text(_ name: String) throws -> [String] {
    MappedVersions.text(try NSMappingModel.load(contentsOf: Self.folder.appendingPathComponent(name)))
  }

  @Test(
    "The source and the compiled form say the same, and both have the hashes of the compiled model",
    .enabled(if: arePresent, absenceComment))
  func pair() throws {
    let (source, compiled) = (try text("V2toV3.xcmappingmodel"), try text("V2toV3.cdm"))
    #expect(compiled.count == 31)
    #expect(source.difference(from: compiled).map { "\($0)" } == [])
    let models = SharedFiles.stores.appendingPathComponent("coredataplus-sample1-v1/SampleModel.momd")
    let (old, new) = (
      models.appendingPathComponent("SampleModel2.mom"), models.appendingPathComponent("SampleModel3.mom")
    )
    for name in ["V2toV3.xcmappingmodel", "V2toV3.cdm"] {
      let model = try NSMappingModel.load(contentsOf: Self.folder.appendingPathComponent(name))
      #expect(
        model.leads(
          from: try NSManagedObjectModel.load(contentsOf: old), to: try NSManagedObjectModel.load(contentsOf: new)))
    }
  }

  @Test("Every file of the folder is read", .enabled(if: arePresent, absenceComment))
  func all() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
    for name in names where name.hasSuffix(".cdm") || name.hasSuffix(".xcmappingmodel") {
      #expect(try !text(name).isEmpty, "\(name)")
    }
  }
}
