import Foundation
import TestSupport
import Testing

/// Holds the examples of OpenCoreData's doc comments and articles to the functions that compile them.
@Suite("Examples in the documentation of OpenCoreData and StoreInspection are compiled")
struct DocExamplesGraphTests {
  @Test("Every example of a doc comment is in one of the files DocExamples….swift")
  func declarations() throws {
    let compiled = try code("DocExamplesGraph", "DocExamplesDeclarations", "DocExamplesMigration", "DocExamplesStores")
    var count = 0
    for source in try files(below: "Sources/OpenCoreData", ending: ".swift") {
      for example in DocExamplesTests.examples(in: try String(contentsOf: source, encoding: .utf8)) {
        count += 1
        #expect(DocExamplesTests.contains(compiled, example), "\(source.lastPathComponent): \(example)")
      }
    }
    #expect(count >= 50)
  }

  @Test("Every example of an article is in DocExamplesArticles.swift, or in the tests of the tutorial and of macros")
  func articles() throws {
    let tutorial = Repository.file("Tests/ModelGeneratorTests/LinkedAppTutorialTests.swift")
    let app = Repository.file("Tests/MacroTests/BringYourAppExamples.swift")
    let others = try [tutorial, app].map { try String(contentsOf: $0, encoding: .utf8) }
    let compiled = try code("DocExamplesArticles") + others.joined()
    var count = 0
    for folder in ["Sources/OpenCoreData/OpenCoreData.docc", "Sources/StoreInspection/StoreInspection.docc"] {
      for article in try files(below: folder, ending: ".md") {
        for example in DocExamplesTests.examples(inArticle: try String(contentsOf: article, encoding: .utf8)) {
          count += 1
          #expect(DocExamplesTests.contains(compiled, example), "\(article.lastPathComponent): \(example)")
        }
      }
    }
    #expect(count >= 23)
  }

  @Test("An example that differs by one word is found, in a comment and in an article")
  func canary() {
    let example = "context.rollback()\ncontext.reset()"
    let comment = "/// Doc.\n///\n/// ```swift\n/// context.rollback()\n/// context.reset()\n/// ```\n"
    #expect(DocExamplesTests.examples(in: comment) == [example])
    let article = "# Doc\n\n```swift\nimport OpenCoreData\n\ncontext.rollback()\ncontext.reset()\n```\n"
    let found = DocExamplesTests.examples(inArticle: article)
    #expect(found.map { DocExamplesTests.contains(example, $0) } == [true])
    #expect(!DocExamplesTests.contains("context.rollback() context.refresh()", found[0]))
  }

  private func code(_ names: String...) throws -> String {
    try names.map { try String(contentsOf: Repository.file("Tests/Examples/\($0).swift"), encoding: .utf8) }.joined()
  }

  private func files(below folder: String, ending: String) throws -> [URL] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: Repository.path(folder))
    return paths.filter { $0.hasSuffix(ending) }.map { Repository.file("\(folder)/\($0)") }
  }
}
