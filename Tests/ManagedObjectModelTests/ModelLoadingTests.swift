import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel

@Suite("A model is found where Xcode puts it")
struct ModelLoadingTests {
  /// Writes files (path: text) into a temporary folder, which is removed after `body`.
  private func withFiles(_ files: [String: String], _ body: (URL) throws -> Void) throws {
    let folder = try TemporaryFolder()
    for (path, text) in files {
      let file = folder.file(path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    try withExtendedLifetime(folder) { try body(folder.url) }
  }

  private func xml(_ entity: String) -> String { #"<model><entity name="\#(entity)"/></model>"# }

  private func pointer(_ name: String) -> String {
    #"<plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\#(name)</string></dict></plist>"#
  }

  /// Expat itself permits a hundred times the input.
  @Test("Entities that make a file much longer are refused, in texts and in attributes")
  func expansion() throws {
    func model(_ count: Int, _ body: String) -> Data {
      let long = String(repeating: "a", count: 1000)
      let entities = "<!ENTITY a \"\(long)\"><!ENTITY b \"\(String(repeating: "&a;", count: count))\">"
      return Data("<!DOCTYPE model [\(entities)]><model><entity name=\"E\">\(body)</entity></model>".utf8)
    }
    for body in ["&b;", "<userInfo><entry key=\"k\" value=\"&b;\"/></userInfo>"] {
      #expect(throws: Never.self) { try XMLTreeReader.read(model(1, body), file: nil) }
      let error = #expect(throws: ModelFileError.self) { try XMLTreeReader.read(model(60, body), file: nil) }
      #expect(error.map { "\($0)".contains("more than 3 times as long") } == true)
    }
    let escaped = Data("<model>\(String(repeating: "&#x1F30A;&lt;", count: 500))</model>".utf8)
    #expect(try XMLTreeReader.read(escaped, file: nil).content.count == 1000)
  }

  @Test("the current version is the one that .xccurrentversion names")
  func currentVersion() throws {
    let files = [
      "M.xcdatamodeld/M.xcdatamodel/contents": xml("One"),
      "M.xcdatamodeld/M 2.xcdatamodel/contents": xml("Two"),
      "M.xcdatamodeld/.xccurrentversion": pointer("M 2.xcdatamodel"),
    ]
    try withFiles(files) { root in
      let package = root.appendingPathComponent("M.xcdatamodeld")
      #expect(NSManagedObjectModel(contentsOf: package)?.entities.map(\.name) == ["Two"])
      let first = package.appendingPathComponent("M.xcdatamodel")
      #expect(NSManagedObjectModel(contentsOf: first)?.entities.map(\.name) == ["One"])
      let contents = first.appendingPathComponent("contents")
      let model = try #require(NSManagedObjectModel(contentsOf: contents))
      #expect(model.entitiesByName["One"]?.managedObjectModel === model)
      #expect(
        try ModelFile.versions(of: package).map(\.lastPathComponent) == ["M 2.xcdatamodel", "M.xcdatamodel"])
    }
  }

  @Test("a single version needs no .xccurrentversion")
  func singleVersion() throws {
    try withFiles(["M.xcdatamodeld/M.xcdatamodel/contents": xml("One")]) { root in
      let model = try NSManagedObjectModel.load(contentsOf: root.appendingPathComponent("M.xcdatamodeld"))
      #expect(model.entities.map(\.name) == ["One"])
    }
  }

  @Test(
    "what is not a model is refused with the path and the remedy",
    arguments: [
      (
        [
          "M.xcdatamodeld/A.xcdatamodel/contents": "<model/>",
          "M.xcdatamodeld/B.xcdatamodel/contents": "<model/>",
        ], 259
      ),
      (["M.xcdatamodeld/.keep": ""], 259),
      (["M.xcdatamodeld/A.xcdatamodel/contents": "<model/>", "M.xcdatamodeld/.xccurrentversion": "?"], 259),
      (
        [
          "M.xcdatamodeld/A.xcdatamodel/contents": "<model/>",
          "M.xcdatamodeld/.xccurrentversion":
            "<plist><dict><key>_XCCurrentVersionName</key><string>Z.xcdatamodel</string></dict></plist>",
        ], 259
      ),
      (["M.xcdatamodeld/A.xcdatamodel/layout": ""], 260),
      (["other": ""], 260),
    ])
  func refusals(files: [String: String], code: Int) throws {
    try withFiles(files) { root in
      let url = root.appendingPathComponent("M.xcdatamodeld")
      let error = #expect(throws: NSError.self) { try NSManagedObjectModel.load(contentsOf: url) }
      #expect(error?.code == code)
      #expect(error?.localizedDescription.contains("M.xcdatamodeld") == true)
      #expect(error?.localizedRecoverySuggestion?.isEmpty == false)
      #expect(NSManagedObjectModel(contentsOf: url) == nil)
    }
  }

  @Test("a model of Xcode 3 is called that, not a file that is missing")
  func oldFormat() throws {
    let files = ["M.xcdatamodeld/M.xcdatamodel/elements": "bplist00", "M.xcdatamodeld/M.xcdatamodel/layout": ""]
    try withFiles(files) { root in
      let error = #expect(throws: NSError.self) {
        try NSManagedObjectModel.load(contentsOf: root.appendingPathComponent("M.xcdatamodeld"))
      }
      #expect(error?.code == CocoaError.fileReadCorruptFile.rawValue)
      #expect(error?.localizedDescription.contains("Xcode 3") == true)
      #expect(error?.localizedRecoverySuggestion?.contains(".mom") == true)
    }
  }

  @Test(
    "the real models are read, and their current versions are what they name",
    .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)),
    arguments: [
      ("bnr-testmodel/Sample.xcdatamodeld", ["Author", "Book", "Publisher"]),
      (
        "coredataplus-sample1-v1/SampleModel.xcdatamodeld",
        ["Car", "ExpensiveSportCar", "Person", "SportCar"]
      ),
      ("surfjournal-kodeco/SurfJournalModel.xcdatamodeld", ["JournalEntry"]),
    ])
  func realModels(path: String, entities: [String]) throws {
    let model = try NSManagedObjectModel.load(
      contentsOf: SharedFiles.stores.appendingPathComponent(path))
    #expect(model.entitiesByName.keys.sorted() == entities)
  }
}
