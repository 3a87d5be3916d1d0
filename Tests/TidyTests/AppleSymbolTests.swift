import Foundation
import Testing

/// Every public name of Apple's framework is here, or says what to use instead.
@Suite struct AppleSymbolTests {
  private static func lines(_ path: String) throws -> [String] {
    try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  private static func symbols(leaving left: String? = nil) throws -> AppleSymbols {
    let files = Repository.files.filter { $0.lies(in: "Sources/OpenCoreData/Unavailable") }
    return AppleSymbols(
      names: try lines("Tests/AppleSymbols/CoreData.txt"),
      deviations: try lines("Tests/AppleSymbols/Deviations.txt"),
      api: PublicAPI(
        try lines("docs/api/OpenCoreData.txt").filter { line in left.map { !line.hasPrefix($0) } ?? true }),
      unavailable: UnavailableDeclarations(files))
  }

  @Test func `No name of Apple's framework is absent`() throws {
    let symbols = try Self.symbols()
    #expect(symbols.names.count > 1100 && Set(symbols.names).count == symbols.names.count)
    #expect(symbols.names(.absent) == [])
  }

  @Test func `The article Coverage has the counts`() throws {
    let sentence = try Self.symbols().sentence
    let article = try Self.lines("Sources/OpenCoreData/OpenCoreData.docc/Coverage.md").joined(separator: " ")
    #expect(article.contains(sentence), "\(sentence)")
  }

  @Test func `Every deviation is that of a name that is present, with its reason`() throws {
    let symbols = try Self.symbols()
    #expect(Set(symbols.deviations.keys).subtracting(symbols.names(.deviates)) == [])
    #expect(symbols.deviations.values.allSatisfy { $0.reason.count > 10 })
  }

  @Test func `Every unavailable declaration has a message, and is one of Apple's`() throws {
    let symbols = try Self.symbols()
    #expect(symbols.unavailable.silent == [])
    // Those of SwiftUI are of another framework.
    let views: Set = ["FetchRequest", "FetchedResults", "SectionedFetchRequest", "SectionedFetchResults"]
    #expect(symbols.unavailable.paths.subtracting(symbols.names) == views)
  }

  @Test func `A declaration that goes is missed, also one that others inherit`() throws {
    #expect(try Self.symbols(leaving: "NSManagedObject.isFault:").names(.absent) == ["NSManagedObject.isFault"])
    let inherited = try Self.symbols(leaving: "NSPersistentStoreRequest.affectedStores:").names(.absent)
    #expect(inherited == ["NSFetchRequest.affectedStores", "NSPersistentStoreRequest.affectedStores"])
    #expect(try Self.symbols().state(of: "NSManagedObject.isFaulty") == .absent)
  }
}
