import ManagedObjectModel
import PersistentStores
import Foundation

/// Checks what Core Data relies on in a store: integrity, key sequences, entity numbers, referenced rows of keys and
/// join rows, order, uniqueness, values, and metadata against the model.
///
/// ```swift
/// let verification = try StoreVerification(storeAt: url, modelFile: modelURL)
/// for finding in verification.findings { print(finding.message) }
/// ```
///
/// Verification does not write a byte of the store. The keys of the JSON form are those of
/// `Pipelines/verification.schema.json`.
public struct StoreVerification: Codable, Hashable, Sendable {
  /// The version of the JSON form: keys do not change within a version.
  public var formatVersion = 1
  /// The path as given, or the address of a server without its password.
  public var store: String
  /// The model that the store was checked against; nil if none was found.
  public var model: StoreInspection.Model?
  /// The names of the completed checks.
  public var checks: [String]
  /// The number of findings that are errors, and the number of warnings.
  public var errors: Int
  /// The number of findings that are warnings.
  public var warnings: Int
  /// What is wrong, in the order of the checks.
  public var findings: [Finding]
  /// What could not be checked, with the reason.
  public var notes: [String]

  /// How grave a finding is.
  public enum Severity: String, Codable, Sendable {
    /// Core Data will fail on it or show wrong objects.
    case error
    /// Unusual or wasteful, but the objects are correct.
    case warning
  }

  /// One problem, in any number of rows.
  public struct Finding: Codable, Hashable, Sendable {
    /// A stable identifier, such as `danglingKey`.
    public var code: String
    /// How grave it is.
    public var severity: Severity
    /// The name of the entity concerned; nil if the finding concerns none.
    public var entity: String?
    /// The name of the property concerned; nil if the finding concerns none.
    public var property: String?
    /// The name of the table concerned; nil if the finding concerns none.
    public var table: String?
    /// The number of affected rows; 0 for a problem of the store as a whole.
    public var count: Int
    /// The first few Z_PK of them, in order; for join tables their rowids, on a server the keys of their first column.
    public var keys: [Int]
    /// The problem.
    public var message: String
    /// The remedy.
    public var advice: String
  }

  /// Checks the store at `url`.
  ///
  /// - Parameters:
  ///   - url: The `.sqlite`, or the address of a database of a PostgreSQL server.
  ///   - modelFile: A model file whose versions are searched. Without one, the embedded models, the store's own model
  ///     cache and its tables are searched.
  ///   - embeddedModels: The names of embedded models that the store may use.
  /// - Throws: The errors of `StoreInspection`. Damage inside a store is a finding, not an error.
  public init(storeAt url: URL, modelFile: URL? = nil, embeddedModels: [String] = []) throws {
    try self.init(storeAt: url, modelFile: modelFile, embeddedModels: embeddedModels, readsDamagedWAL: false)
  }

  /// - Parameter readsDamagedWAL: Whether a damaged WAL is read up to its first wrong frame instead of being refused.
  package init(storeAt url: URL, modelFile: URL?, embeddedModels: [String], readsDamagedWAL: Bool) throws {
    let store = try ExaminedStore(
      at: url, modelFile: modelFile, embeddedModels: embeddedModels, readsDamagedWAL: readsDamagedWAL)
    var run = VerificationRun(store)
    run.checkAll()
    run.requireCompleteness()
    self.store = store.name
    model = StoreInspection.Model(store)
    checks = run.checks
    findings = run.findings
    errors = findings.count { $0.severity == .error }
    warnings = findings.count { $0.severity == .warning }
    notes = run.notes
    try store.checkReads(at: url)
  }
}

/// Runs the checks of one store one after the other and collects their findings.
struct VerificationRun {
  let store: ExaminedStore
  private(set) var checks: [String] = []
  private(set) var findings: [StoreVerification.Finding] = []
  private(set) var notes: [String] = []
  /// The names of the columns of each table, in capitals. They are looked up for every column of a model.
  private let columnNames: [String: Set<String>]

  /// The maximum number of keys that a finding lists.
  static let keysListedMax = 5

  init(_ store: ExaminedStore) {
    self.store = store
    columnNames = store.columns.mapValues { columns in Set(columns.map { $0.name.uppercased() }) }
    notes = store.doubts
  }

  mutating func checkAll() {
    check("integrity") { try $0.checkIntegrity() }
    check("metadata") {
      try $0.checkMetadata()
      if $0.store.server == nil { try $0.checkModelCache() }
      $0.checkKeyRows()
    }
    guard let model = store.model?.model, let schema = store.schema else {
      check("history") { try $0.checkHistory() }
      notes.append("Entities are not checked, as their model is not known; give it with --model.")
      return
    }
    let known = model.entitiesByName
    let entities = schema.entities.compactMap { sql in
      known[sql.name].map { VerifiedEntity($0, sql) }
    }
    if store.server != nil { check("database") { try $0.checkDatabase(schema, model) } }
    check("keys") { try $0.checkKeys(entities) }
    check("rows") { try $0.checkRows(entities) }
    check("values") { try $0.checkValues(entities) }
    check("uniqueness") { try $0.checkUniqueness(entities) }
    check("relationships") { try $0.checkRelationships(entities) }
    check("order") { try $0.checkOrder(entities) }
    if store.server == nil { check("largeValues") { try $0.checkExternalData(entities) } }
    check("history") { try $0.checkHistory() }
  }

  /// Runs one check. What could not be checked is not in order.
  private mutating func check(_ name: String, _ body: (inout VerificationRun) throws -> Void) {
    do {
      try body(&self)
      checks.append(name)
    } catch {
      notes.append("The check '\(name)' ended early: \(ExaminedStore.message(error)).")
    }
  }

  /// A store that could not be checked is not in order. Other errors say why already.
  mutating func requireCompleteness() {
    guard !notes.isEmpty, !findings.contains(where: { $0.severity == .error }) else { return }
    add(
      "notChecked", "Not everything could be checked, see the notes.",
      advice: "Give the model with --model; if it is the right one, restore the \(whole) from a copy.")
  }

  // MARK: Findings

  mutating func add(
    _ code: String, severity: StoreVerification.Severity = .error, entity: String? = nil, property: String? = nil,
    table: String? = nil, count: Int = 0, keys: [Int] = [], _ message: String, advice: String
  ) {
    findings.append(
      StoreVerification.Finding(
        code: code, severity: severity, entity: entity, property: property, table: table, count: count, keys: keys,
        message: message, advice: Self.repairs.contains(code) && !isOwnStore ? Self.foreignAdvice : advice))
  }

  /// Findings whose remedy is a change of the store. Only the program that a store belongs to may make it.
  private static let repairs: Set<String> = [
    "uuid", "entityNumber", "version", "valueMissing", "valueType", "textBytes", "notUnique", "uniqueIndexMissing",
    "keyDoubled", "danglingKey", "wrongDestination", "destinationEntity", "inverse", "relationshipMissing",
    "tooFewObjects", "tooManyObjects", "danglingJoin", "joinOneSided", "orderMissing", "orderDoubled", "keySequence",
    "historyChange", "largeValueOrphan",
  ]
  private static let foreignAdvice =
    "Correct it with the program that the store belongs to, or restore the store from a copy."

  /// Whether the store was made with a model of this program.
  private var isOwnStore: Bool { if case .embedded? = store.model?.origin { true } else { false } }

  /// What is restored as a whole.
  var whole: String { store.server == nil ? "file" : "database" }

  mutating func note(_ text: String) { notes.append(text) }

  /// The rows that match `condition`, nil if there are none: their number and the first keys.
  func rows(
    in from: String, where condition: String, key: String = "t.Z_PK"
  ) throws -> (count: Int, keys: [Int])? {
    let count = Int(try store.connection.integer("SELECT count(*) FROM \(from) WHERE \(condition)") ?? 0)
    guard count > 0 else { return nil }
    let keys = try store.connection.rows(
      "SELECT \(key) FROM \(from) WHERE \(condition) ORDER BY 1 LIMIT \(Self.keysListedMax)")
    return (count, keys.compactMap { $0[0].int })
  }

  /// The comparison of two values that may be null, in the database's words.
  var differsFrom: String { store.server == nil ? "IS NOT" : "IS DISTINCT FROM" }

  /// What names a row `t` of a join table.
  func rowKey(ofJoin column: String) -> String { store.server == nil ? "t.rowid" : "t.\(column.quotedName)" }

  /// Whether the table has the columns: an incompatible model names others.
  func has(_ table: String, _ columns: [String]) -> Bool {
    guard let names = columnNames[table] else { return false }
    return columns.allSatisfy { names.contains($0.uppercased()) }
  }
}

/// An entity with its location in the store.
struct VerifiedEntity {
  let entity: NSEntityDescription
  let sql: SQLEntity
  var name: String { sql.name }
  var table: String { sql.tableName.quotedName }
  var isRoot: Bool { sql.superNumber == 0 }

  /// The numbers of the entity and of all entities that inherit from it, as a list for SQL.
  let numbers: String

  init(_ entity: NSEntityDescription, _ sql: SQLEntity) {
    self.entity = entity
    self.sql = sql
    numbers = sql.numbers.map(String.init).joined(separator: ", ")
  }

  /// The condition for rows of exactly this entity in the table `t`.
  var isOwn: String { "t.Z_ENT = \(sql.number)" }
}
