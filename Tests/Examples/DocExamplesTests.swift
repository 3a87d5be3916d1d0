import Foundation
import TestSupport
import Testing

/// Holds the examples of documentation comments to the functions that compile and run them.
@Suite("Examples in documentation comments are compiled")
struct DocExamplesTests {
  private static let declarations = [
    "ManagedObjectModel/Descriptions/NSManagedObjectModel",
    "ManagedObjectModel/ModelFiles/NSManagedObjectModel+Loading", "ManagedObjectModel/Descriptions/NSEntityDescription",
    "ManagedObjectModel/Descriptions/NSAttributeDescription",
    "ManagedObjectModel/Descriptions/NSRelationshipDescription",
    "ManagedObjectModel/Descriptions/NSFetchedPropertyDescription",
    "ManagedObjectModel/Descriptions/NSExpressionDescription", "ManagedObjectModel/Predicates/Object/NSExpression",
    "ManagedObjectModel/Predicates/Object/NSComparisonPredicate",
    "ManagedObjectModel/Predicates/Object/NSFetchRequestExpression",
    "ManagedObjectModel/Predicates/Object/NSPredicate+Format", "ManagedObjectModel/Sorting/NSSortDescriptor+Key",
    "ManagedObjectModel/TypedPredicates/NSExpression+KeyPath", "ManagedObjectModel/TypedPredicates/NSPredicate+Typed",
    "PersistentStores/Identities/NSManagedObjectID", "PersistentStores/Rows/ObjectBatch",
    "PersistentStores/Rows/BatchLink",
    "PersistentStores/RowStore/SaveParticipant", "PersistentStores/ModelSearch/StoreModel",
    "PersistentStores/Migration/NSMappingModel", "PersistentStores/Migration/NSEntityMapping",
    "PersistentStores/Migration/NSPropertyMapping", "PersistentStores/Migration/NSMappingModel+Files",
    "StoreInspection/StoreInspection", "StoreInspection/StoreVerification",
  ]

  @Test("Every example in the modules of models and stores is in one of two files", arguments: declarations)
  func models(declaration: String) throws {
    let compiled = try ["Model", "Expressions"].map { try text("Tests/Examples/DocExamples\($0).swift") }.joined()
    let examples = Self.examples(in: try text("Sources/\(declaration).swift"))
    #expect(!examples.isEmpty)
    for example in examples { #expect(Self.contains(compiled, example), "\(example)") }
  }

  @Test("No other file of these modules has an example")
  func complete() throws {
    for module in ["ManagedObjectModel", "PersistentStores", "StoreInspection"] {
      let paths = try FileManager.default.subpathsOfDirectory(atPath: Repository.path("Sources/\(module)"))
      for path in paths where path.hasSuffix(".swift") && !Self.declarations.contains("\(module)/\(path.dropLast(6))") {
        #expect(Self.examples(in: try text("Sources/\(module)/\(path)")).isEmpty, "\(module)/\(path)")
      }
    }
  }

  @Test("An example that differs from the compiled code is found")
  func canary() {
    let source = "/// A list.\n///\n/// ```swift\n/// let a = 1\n/// ```\nstruct List {}"
    #expect(Self.examples(in: source) == ["let a = 1"])
    #expect(Self.contains("func list() {\n    let  a = 1\n}", "let a = 1"))
    #expect(!Self.contains("func list() {\n  let a = 2\n}", "let a = 1"))
  }

  private func text(_ path: String) throws -> String { try String(contentsOf: Repository.file(path), encoding: .utf8) }

  /// The code between ```` ```swift ```` and the next ```` ``` ```` in documentation comments.
  static func examples(in source: String) -> [String] {
    var examples: [String] = []
    var lines: [String]?
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
      let line = line.drop { $0 == " " }
      guard line.hasPrefix("///") else { continue }
      let comment = line.dropFirst(3).trimmingPrefix(" ")
      if comment == "```swift" {
        lines = []
      } else if comment == "```", let example = lines {
        examples.append(example.joined(separator: "\n"))
        lines = nil
      } else {
        lines?.append(String(comment))
      }
    }
    return examples
  }

  /// The code between the same marks in an article, without its imports, which compiled code has at its top.
  static func examples(inArticle article: String) -> [String] {
    let lines = article.split(separator: "\n").filter { !$0.hasPrefix("import ") }
    return examples(in: lines.map { "/// \($0)" }.joined(separator: "\n"))
  }

  /// Whether the code contains the example, where any white space equals any other.
  static func contains(_ code: String, _ example: String) -> Bool {
    func words(_ text: String) -> String { text.split { $0.isWhitespace }.joined(separator: " ") }
    return words(code).contains(words(example))
  }
}
