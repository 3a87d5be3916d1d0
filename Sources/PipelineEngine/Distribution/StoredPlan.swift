import Foundation
import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// What every worker of a plan has to know, so that all read records alike: the pipeline as it was completed when the
/// plan was made.
struct StoredPlan: Codable {
  var pipeline: PipelineDefinition
  /// The folder that its relative paths start at.
  var folder: String?
  var fillsAttributesByName: Bool
  /// The options that were given and say how CSV is written.
  var csvOptions: [String]
  /// What rejects say of how they were read.
  var readingOptions: [String: [String]]
  var pipelineReference: String?
  var entityReference: String?
  var modelReference: String?
  /// Nil in the plans of earlier versions, and in a plan without a store.
  var shardCount: Int?

  /// The stores that it is for and the targets of notifications are left out, because they may have secrets.
  init(_ definition: PipelineDefinition, _ options: RunOptions) {
    pipeline = definition
    (pipeline.store, pipeline.notify, pipeline.inbox) = (nil, nil, nil)
    pipeline.source = []
    for index in pipeline.parts.indices {
      // A part has a source, and its inputs are those of the shards.
      (pipeline.parts[index].source, pipeline.parts[index].sourceOptional) = (["shards of the plan"], true)
      pipeline.parts[index].inbox = nil
    }
    if let model = definition.model, PipelineDefinition.isModelPath(model) {
      pipeline.model = definition.url(for: model).path
    }
    folder = definition.baseDirectory?.path
    (fillsAttributesByName, csvOptions) = (options.fillsAttributesByName, options.csvOptions)
    readingOptions = options.readingOptions
    (pipelineReference, entityReference) = (options.pipelineReference, options.entityReference)
    modelReference = options.modelReference
  }

  func encoded() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard !pipeline.parts.isEmpty, case .object(var members) = PipelineDefinition.json(self),
      case .object(var definition)? = members["pipeline"]
    else { return String(decoding: try encoder.encode(self), as: UTF8.self) }
    // Each part names its entity, and a definition with parts has none.
    definition["entity"] = nil
    members["pipeline"] = .object(definition)
    return String(decoding: try encoder.encode(JSONValue.object(members)), as: UTF8.self)
  }

  init(encoded: String, vocabulary: DefinitionVocabulary) throws {
    let decoder = JSONDecoder()
    decoder.userInfo[.definitionVocabulary] = vocabulary
    self = try decoder.decode(StoredPlan.self, from: Data(encoded.utf8))
    pipeline.baseDirectory = folder.map { URL(fileURLWithPath: $0) }
  }

  /// The options of a run of the plan.
  func apply(to options: inout RunOptions) {
    options.fillsAttributesByName = fillsAttributesByName
    options.csvOptions = csvOptions
    options.readingOptions = readingOptions
    options.pipelineReference = pipelineReference
    options.entityReference = entityReference
    options.modelReference = modelReference
  }
}

/// A plan of a store's ledger.
struct PlanRecord {
  enum State: String { case open, closed, abandoned }

  let id: String
  var state: State
  let madeAt: Date
  /// The digest of its pipeline.
  let digest: String
  let plan: StoredPlan
  /// What the plan has to say in the report, such as the formats of dates that were chosen.
  let notes: [String]

  static let columns = ["planID", "state", "madeAt", "digest", "pipeline", "notes"]

  /// Reads the plans of a store, the newest first; none where it has no tables of plans.
  ///
  /// - Parameter condition: Which of them, as a condition of SQL with the values.
  private static func all(
    _ connection: LedgerConnection, _ vocabulary: DefinitionVocabulary, where condition: String, values: [StoredValue]
  ) throws -> [PlanRecord] {
    let tables = PlanTables(vocabulary)
    guard try connection.dialect.tables([tables.plan], connection.plainRows).first?.isTable == true else { return [] }
    return try connection.rows(
      "SELECT \(columns.joined(separator: ", ")) FROM \(tables.plan) WHERE \(condition) ORDER BY madeAt DESC, planID",
      values
    ).map { try PlanRecord(row: $0.map(\.plain), vocabulary) }
  }

  /// Calls `body` with a connection to the ledger that reads one state of it.
  static func reading<Result>(
    _ store: StoreLocation, timeoutSeconds: Double, _ body: (LedgerConnection) throws -> Result
  ) throws(RunFailure) -> Result {
    do {
      let connection = try LedgerConnection.reading(store, timeoutSeconds: timeoutSeconds)
      defer { connection.close() }
      return try body(connection)
    } catch {
      throw error as? RunFailure ?? RunFailure(store: error as NSError)
    }
  }

  /// The plan whose number begins with `id`.
  static func find(
    _ id: String, in store: StoreLocation, _ vocabulary: DefinitionVocabulary, timeoutSeconds: Double
  ) throws(RunFailure) -> PlanRecord {
    guard store.isServer else {
      throw RunFailure(
        code: nil, exitCode: .usage,
        message: "\(store.shown) is a file, and plans are kept in stores on a server; name the address that 'plan' was "
          + "given, such as postgresql://USER@HOST/DATABASE")
    }
    let found = try reading(store, timeoutSeconds: timeoutSeconds) { connection in
      try all(connection, vocabulary, where: "substr(planID, 1, length(?)) = ?", values: [.text(id), .text(id)])
    }
    if found.count == 1 { return found[0] }
    throw RunFailure(
      code: nil, exitCode: found.isEmpty ? .noInput : .usage,
      message: found.isEmpty
        ? "\(store.shown) has no plan \(id); check the number that 'plan' has printed, and the store"
        : "\(found.count) plans of \(store.shown) begin with \(id); write more of the number")
  }

  /// The present state of a plan; abandoned where it is gone.
  static func state(of id: String, _ tables: PlanTables, in coordinator: NSPersistentStoreCoordinator) throws -> State {
    let row = try coordinator.participantRows("SELECT state FROM \(tables.plan) WHERE planID = ?", [id]).first
    return (row?.first as? String).flatMap(State.init(rawValue:)) ?? .abandoned
  }

  private init(row: [Any?], _ vocabulary: DefinitionVocabulary) throws {
    func text(_ index: Int) -> String { row[index] as? String ?? "" }
    id = text(0)
    state = State(rawValue: text(1)) ?? .abandoned
    madeAt = LedgerDate.date(text(2)) ?? Date(timeIntervalSince1970: 0)
    digest = text(3)
    plan = try StoredPlan(encoded: text(4), vocabulary: vocabulary)
    notes = (try? JSONDecoder().decode([String].self, from: Data(text(5).utf8))) ?? []
  }

  static func insert(
    _ plan: StoredPlan, as id: String, digest: String, notes: [String], at date: Date, into tables: PlanTables
  ) throws -> LedgerTables.Statement {
    let notes = String(decoding: try JSONEncoder().encode(notes), as: UTF8.self)
    return (
      "INSERT INTO \(tables.plan) (\(columns.joined(separator: ", "))) VALUES (?, ?, ?, ?, ?, ?)",
      [
        .text(id), .text(State.open.rawValue), .text(LedgerDate.text(date)), .text(digest),
        .text(try plan.encoded()), .text(notes),
      ]
    )
  }
}

extension ImportRun {
  /// The definition with the columns that each part was completed with.
  var completedDefinition: PipelineDefinition {
    if definition.parts.isEmpty { return parts[0].environment.definition }
    var completed = definition
    completed.parts = parts.map(\.environment.definition)
    return completed
  }
}
