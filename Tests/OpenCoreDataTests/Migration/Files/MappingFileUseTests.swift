import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (Apple documentation: NSMappingModel.init(from:forSourceModel:destinationModel:),
// NSMigratePersistentStoresAutomaticallyOption): a mapping model file is found in bundles by the versions of the models.

@Suite("Mapping model files are found in bundles and carried out", .serialized)
struct MappingFileUseTests {
  private static let query = """
    SELECT b.ZNAME, b.ZLENGTH, b.ZFINS, o.ZNAME, r.ZNAME FROM ZBOARD b LEFT JOIN ZRIDER o ON o.Z_PK = b.ZOWNER
      LEFT JOIN ZRIDER r ON r.Z_PK = b.ZRIDER ORDER BY 1; SELECT count(*) FROM ZWAVE
    """
  private static let expected = "keel|5.5|2|Ann|Ann\nlog|9.5||Ann|Ann\n0"

  private let bench: MigrationBench
  private let new: NSManagedObjectModel

  init() throws {
    bench = try MigrationBench(old: MappedVersions.old(), rows: MappedVersions.rows)
    new = try MappedVersions.new()
  }

  /// A folder that is a bundle, with these files.
  private func bundle(_ files: [String: Data]) throws -> Bundle {
    let name = "\(UUID().uuidString).bundle"
    try bench.folder.makeFolder(name)
    for (file, data) in files {
      if file.hasSuffix(".xcmappingmodel") { try bench.folder.makeFolder("\(name)/\(file)") }
      let path = file.hasSuffix(".xcmappingmodel") ? "\(file)/xcmapping.xml" : file
      try data.write(to: bench.folder.file("\(name)/\(path)"))
    }
    return try #require(Bundle(path: bench.folder.path(name)))
  }

  private func found(_ files: [String: Data]) throws -> NSMappingModel? {
    NSMappingModel(from: [try bundle(files)], forSourceModel: bench.old, destinationModel: new)
  }

  @Test("Found by version hashes, compiled or as a source; another version, a damaged file and no model are not")
  func search() throws {
    let source = Data(try MappedVersions.source().utf8)
    let other = try MappedVersions.compiled { $0.entityMappings[1].sourceEntityVersionHash = Data(count: 32) }
    let damaged = Data("x".utf8)
    #expect(try found(["A.cdm": MappedVersions.compiled()])?.entityMappings.count == 4)
    #expect(try found(["A.xcmappingmodel": source])?.entityMappings.count == 4)
    #expect(try found(["A.cdm": other, "B.cdm": damaged, "C.xcmappingmodel": source])?.entityMappings.count == 4)
    #expect(try found(["A.cdm": other, "B.cdm": damaged]) == nil)
    #expect(try found([:]) == nil)
    let bundle = try bundle(["A.cdm": MappedVersions.compiled()])
    #expect(NSMappingModel(from: [bundle], forSourceModel: new, destinationModel: bench.old) == nil)
    #expect(NSMappingModel(from: [bundle], forSourceModel: nil, destinationModel: new) == nil)
  }

  @Test("A compiled file takes precedence over its source")
  func precedence() throws {
    let marked = try MappedVersions.compiled { $0.entityMappings[0].userInfo = ["from": "compiled"] }
    let model = try found(["A.cdm": marked, "A.xcmappingmodel": Data(MappedVersions.source().utf8)])
    #expect(model?.entityMappings[0].userInfo?["from"] as? String == "compiled")
  }

  /// Apple's framework compares version hashes.
  @Test("A file for an entity whose version can't be compared is not found by its name, and an opening says so")
  func unknownVersion() throws {
    func model(_ name: String, _ derivation: String) throws -> NSManagedObjectModel {
      try migrationModel(
        """
        <entity name="Board"><attribute name="\(name)" optional="YES" attributeType="String"/>
          <attribute name="short" optional="YES" attributeType="String" derived="YES"
            derivationExpression="\(derivation)"/></entity>
        """)
    }
    let (old, new) = (try model("name", "unusual:(name)"), try model("title", "unusual:(title)"))
    try #require(old.entities[0].hasExactVersionHash == false)
    let mapping = NSMappingModel()
    mapping.entityMappings = [entityMapping("B", from: "Board", to: "Board", attributes: ["title": "$source.name"])]
    func search(_ source: Data?, _ destination: Data?) throws -> MappingSearch {
      mapping.entityMappings[0].sourceEntityVersionHash = source
      mapping.entityMappings[0].destinationEntityVersionHash = destination
      let bundle = try bundle(["A.cdm": MappingFileWriter.compiled(mapping)])
      return MappingSearch(bundles: [bundle], from: old, to: new)
    }
    let (own, other) = (old.entityVersionHashesByName["Board"], new.entityVersionHashesByName["Board"])
    #expect(try search(own, other).found != nil)
    for (source, destination) in [(Data(count: 32), other), (own, Data(count: 32)), (nil, nil), (own, nil)] {
      let search = try search(source, destination)
      #expect(search.found == nil && search.hasUnreadable)
      #expect(search.lookedAt.first?.contains("can't be compared: Board") == true)
    }
    #expect(mapping.leads(from: old, to: new))
  }

  @Test("A file without an entity of both versions is passed over, as its objects would get lost")
  func incomplete() throws {
    #expect(try found(["A.cdm": MappedVersions.compiled { $0.entityMappings.remove(at: 1) }]) == nil)
    #expect(try found(["A.cdm": MappedVersions.compiled { $0.entityMappings.removeLast() }]) == nil)
  }

  @Test("A migration manager carries out either form")
  func manager() throws {
    let files = ["A.cdm": try MappedVersions.compiled(), "A.xcmappingmodel": Data(try MappedVersions.source().utf8)]
    for (name, data) in files {
      let mapping = try #require(try found([name: data]))
      let target = bench.folder.file("\(name).sqlite")
      try NSMigrationManager(sourceModel: bench.old, destinationModel: new)
        .migrateStore(from: bench.file, with: mapping, toDestinationURL: target)
      #expect(try sqlite(target, Self.query) == Self.expected, "\(name)")
    }
  }

  /// Runs a test of this suite in another process, whose main bundle is a folder of its own: no other test and no
  /// program of the build folder sees the files that it puts there.
  private func runInOwnBundle(_ test: String, _ store: URL) throws -> ProgramOutput {
    let program = try #require(Bundle.main.executableURL)
    let own = program.deletingLastPathComponent()
      .appendingPathComponent("MappingFileUseTests-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: own) }
    let linked = own.appendingPathComponent(program.lastPathComponent)
    try FileManager.default.linkItem(at: program, to: linked)
    return try Programs.run(
      linked.path,
      ["--testing-library", "swift-testing", "--filter", "OpenCoreDataTests.MappingFileUseTests/\(test)"],
      in: bench.folder, environment: [MigrationStage.storeKey: store.path])
  }

  /// The store in the process that `runInOwnBundle` starts; nil in the other one.
  private static var givenStore: URL? {
    ProcessInfo.processInfo.environment[MigrationStage.storeKey].map { URL(fileURLWithPath: $0) }
  }

  @Test("A store that is added is migrated by a file of the main bundle; the error names those that can't be read")
  func mainBundle() throws {
    guard let store = Self.givenStore else {
      let output = try runInOwnBundle("mainBundle", bench.file)
      #expect(output.status == 0, "\(output.text)\(output.messages)")
      #expect(try sqlite(bench.file, Self.query) == Self.expected)
      return
    }
    let file = try #require(Bundle.main.resourceURL).appendingPathComponent("SurfJournalMappingFileUseTests.cdm")
    try #require(file.path.contains("MappingFileUseTests-"))
    let options: [AnyHashable: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true, OCDSourceModelsOption: [bench.old],
    ]
    try Data("x".utf8).write(to: file)
    let error = #expect(throws: NSError.self) { try MigrationBench.add(store, model: new, options: options) }
    #expect(error?.code == NSMigrationMissingMappingModelError)
    #expect(error?.localizedDescription.contains(file.lastPathComponent) == true)
    // What the file says would be lost by an inferred mapping.
    let inferring = options.merging([NSInferMappingModelAutomaticallyOption: true]) { $1 }
    let refusal = #expect(throws: NSError.self) { try MigrationBench.add(store, model: new, options: inferring) }
    #expect(refusal?.code == NSMigrationMissingMappingModelError)
    #expect(refusal?.localizedDescription.contains(file.lastPathComponent) == true)
    try MappedVersions.compiled().write(to: file)
    try MigrationBench.add(store, model: new, options: options)
  }

  @Test("What the refusal of a history advises works also where a file of the main bundle leads to the model")
  func inferredInstead() throws {
    let tracked = bench.folder.file("tracked.sqlite")
    guard let store = Self.givenStore else {
      let history = try HistoryBench(tracked, bench.old)
      try history.context.performAndWait {
        let rider = NSEntityDescription.insertNewObject(forEntityName: "Rider", into: history.context)
        rider.setValue("Ann", forKey: "name")
        try history.context.save()
      }
      try history.close()
      let output = try runInOwnBundle("inferredInstead", tracked)
      #expect(output.status == 0, "\(output.text)\(output.messages)")
      #expect(try sqlite(tracked, "SELECT count(*) FROM ATRANSACTION; SELECT ZNAME FROM ZRIDER") == "1\nAnn")
      return
    }
    let file = try #require(Bundle.main.resourceURL).appendingPathComponent("SurfJournalMappingFileUseTests.cdm")
    try MappedVersions.compiled().write(to: file)
    var options = MigrationBench.options([bench.old])
    let refusal = #expect(throws: NSError.self) { try MigrationBench.add(store, model: new, options: options) }
    #expect(refusal?.code == NSMigrationError)
    #expect(refusal?.localizedDescription.contains("an empty list as OCDMappingModelsOption") == true)
    options[OCDMappingModelsOption] = [NSMappingModel]()
    try MigrationBench.add(store, model: new, options: options)
  }

  @Test("A mapping model of the options takes precedence over the files of the main bundle")
  func options() throws {
    let mapping = try #require(try found(["A.cdm": MappedVersions.compiled()]))
    mapping.entityMappings[0].attributeMappings?[0].valueExpression = NSExpression(forConstantValue: 1.5)
    try MigrationBench.add(
      bench.file, model: new,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true, OCDSourceModelsOption: [bench.old],
        OCDMappingModelsOption: [mapping],
      ])
    #expect(try sqlite(bench.file, "SELECT ZLENGTH FROM ZBOARD ORDER BY ZNAME") == "5.5\n1.5")
  }
}
