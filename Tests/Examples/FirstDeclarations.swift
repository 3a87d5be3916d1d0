import Testing

/// A public declaration that people meet first, by how its line in the sources begins.
struct FirstDeclaration: CustomTestStringConvertible, Hashable, Sendable {
  let module: String
  /// The type that has the declaration; empty for a declaration at the top level.
  let type: String
  let beginning: String

  var testDescription: String { "\(module) \(type) \(beginning)" }

  /// The declaration of its type; nil at the top level.
  var owner: FirstDeclaration? { Self.all.first { $0.type.isEmpty && $0.words.contains(type) } }

  /// How an example uses a property, a function, or an initialiser with its first label.
  var use: String? {
    let words = words
    guard let keyword = words.firstIndex(where: { ["var", "let", "func", "init"].contains($0) }),
      keyword + 1 < words.count
    else { return nil }
    return words[keyword] == "init" ? "(\(words[keyword + 1]):" : ".\(words[keyword + 1])"
  }

  private var words: [String] { beginning.split { !$0.isLetter && !$0.isNumber }.map(String.init) }

  /// Those that the example of their type shows as well as an own one would. Everything else in `all` has an example.
  static let shownByType = [
    FirstDeclaration(
      module: "OpenCoreData", type: "NSManagedObject", beginning: "public required convenience init(context"),
    FirstDeclaration(module: "PipelineEngine", type: "RunOptions", beginning: "public var store"),
    FirstDeclaration(module: "PipelineEngine", type: "RunSummary", beginning: "public var outcome"),
    FirstDeclaration(module: "PipelineEngine", type: "RunSummary", beginning: "public var failure"),
    FirstDeclaration(module: "PipelineEngine", type: "RunSummary", beginning: "public var counts"),
  ]

  /// What a client begins with: containers, contexts, requests, controllers, predicates, models, runners, definitions,
  /// readers and writers.
  static let all: [FirstDeclaration] = {
    var declarations: [FirstDeclaration] = []
    var owner: [Substring] = []
    for line in list.split(separator: "\n") {
      let text = line.drop { $0 == " " }
      if text.count == line.count {
        owner = text.split(separator: ".")
      } else {
        declarations.append(
          FirstDeclaration(
            module: String(owner[0]), type: owner.count > 1 ? String(owner[1]) : "", beginning: String(text)))
      }
    }
    return declarations
  }()

  /// Modules, or types with their module, and below each its declarations.
  private static let list = """
    OpenCoreData
      open class NSPersistentContainer
      open class NSPersistentStoreDescription
      open class NSPersistentStoreCoordinator
      open class NSManagedObjectContext
      open class NSManagedObject:
      open class NSFetchRequest<
      open class NSFetchedResultsController<
      open class NSMergePolicy
      public var NSErrorMergePolicy
      public var NSMergeByPropertyStoreTrumpMergePolicy
      public var NSMergeByPropertyObjectTrumpMergePolicy
      public var NSOverwriteMergePolicy
      public var NSRollbackMergePolicy
    OpenCoreData.NSPersistentContainer
      public convenience init(name: String)
      public init(name: String, managedObjectModel
      open var persistentStoreDescriptions
      public let viewContext
      open func loadPersistentStores(
      open func newBackgroundContext()
      open func performBackgroundTask(
      public func performBackgroundTask<
    OpenCoreData.NSManagedObjectContext
      public init(concurrencyType
      public var parent:
      public var persistentStoreCoordinator
      public var mergePolicy
      public var automaticallyMergesChangesFromParent
      public var hasChanges
      public var insertedObjects
      public var updatedObjects
      public var deletedObjects
      public func fetch<
      public func count<
      public func save()
      public func rollback()
      public func reset()
      public func insert(_ object
      public func delete(_ object
      public func object(with
      public func existingObject(with
      public func refresh(
      public func perform(
      public func perform<
      public func performAndWait<
      public func obtainPermanentIDs(
    OpenCoreData.NSManagedObject
      public required convenience init(context
      public required init(entity
      public var objectID
      public var isInserted
      public var isUpdated
      public var isDeleted
      public var isFault
      public var hasChanges
    OpenCoreData.NSFetchRequest
      public init(entityName
      open var entity:
      open var predicate
      open var sortDescriptors
      open var fetchLimit
      open var fetchBatchSize
      open var resultType
      open var includesSubentities
    OpenCoreData.NSFetchedResultsController
      public init(
      open var fetchRequest
      open var managedObjectContext
      open var delegate
      open func performFetch()
      open var sections
      open var fetchedObjects
      open func object(at
    PersistentStores
      public final class NSManagedObjectID
    PersistentStores.NSManagedObjectID
      public var entity
      public var isTemporaryID
      public func uriRepresentation()
    ManagedObjectModel
      open class NSManagedObjectModel
      open class NSEntityDescription
      open class NSAttributeDescription
    ManagedObjectModel.NSManagedObjectModel
      public convenience init?(contentsOf
    ManagedObjectModel.NSPredicate
      public convenience init(format predicateFormat: String, _
    ManagedObjectModel.NSSortDescriptor
      public convenience init(key: String?, ascending: Bool) {
    PipelineEngine
      public final class PipelineRunner
      public struct RunOptions
      public struct RunProgress
      public struct RunSummary
    PipelineEngine.PipelineRunner
      public init(
      public let definition
      public let kind
      public let options
      public let progress
      public func run()
      public func cancel()
    PipelineEngine.RunOptions
      public var inputs
      public var store
    PipelineEngine.RunSummary
      public var outcome
      public var failure
      public var counts
      public var issues
    PipelineDefinition
      public struct PipelineDefinition
      public struct ColumnDefinition
    PipelineDefinition.PipelineDefinition
      public init(contentsOf
      public func check()
    CSV
      public final class CSVReader
      public struct CSVWriter
      public final class ByteSource
      public final class ByteSink
      public struct CSVDialect
      public struct RecordBlock
    CSV.CSVReader
      public convenience init(
      public func readHeader()
      public func next(into
    CSV.CSVWriter
      public init(
      public mutating func append(field value: Span
      public mutating func endRecord()
      public mutating func write(
      public mutating func flush()
    CSV.ByteSource
      public convenience init(path
      public convenience init(descriptor
      public convenience init(bytes
      public func read(
    SurfJournal
      public final class CoreDataStack
      public struct JournalEditor
    """
}
