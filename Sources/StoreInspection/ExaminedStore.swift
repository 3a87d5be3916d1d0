import ManagedObjectModel
import PersistentStores
import PostgreSQLStore
import Foundation

/// A store that is open for inspection in its current form: with the most compatible model, if there is one, and the
/// list of what can't be read. Inspection does not write a byte of it.
struct ExaminedStore {
  /// A row of sqlite_master.
  struct SchemaObject: Hashable {
    let type: String
    let name: String
    let table: String
    let sql: String?
  }

  struct Column: Hashable {
    let name: String
    let type: String
  }

  /// A row of Z_PRIMARYKEY.
  struct KeyRow: Hashable {
    let number: Int
    let name: String
    let superNumber: Int
    let maximum: Int
  }

  let url: URL
  /// As it is shown: a path as given, or an address without its password.
  let name: String
  /// The store's file, without symbolic links.
  let path: String
  let readsDamagedWAL: Bool
  /// The file; nil for a store of a server.
  let file: OpenedDatabase?
  /// The server; nil for a store in a file.
  let server: ServerExamination?
  let connection: any TableStatements
  let objects: [SchemaObject]
  let columns: [String: [Column]]
  let keyRows: [KeyRow]
  let uuid: String?
  /// The property list of Z_METADATA.
  let metadata: [String: Any]?
  /// The version hashes of the entities in the metadata.
  let storedHashes: [String: Data]
  let model: StoreModel?
  /// The model's tables as they exist in this store.
  let schema: SQLSchema?
  /// One sentence about each part that could not be read.
  let doubts: [String]

  var tables: [String] { objects.filter { $0.type == "table" }.map(\.name) }

  /// - Throws: `NSError` for a file that is missing, can't be read or is not a store; the errors of `StoreModel.find`
  ///   for a model file that can't be read.
  init(at url: URL, modelFile: URL?, embeddedModels: [String], readsDamagedWAL: Bool) throws {
    guard PostgreSQLAddress.isAddress(url) else {
      try self.init(file: url, modelFile: modelFile, embeddedModels: embeddedModels, readsDamagedWAL: readsDamagedWAL)
      return
    }
    try self.init(server: url, modelFile: modelFile, embeddedModels: embeddedModels)
  }

  private init(file url: URL, modelFile: URL?, embeddedModels: [String], readsDamagedWAL: Bool) throws {
    self.url = url
    name = url.relativePath
    server = nil
    self.readsDamagedWAL = readsDamagedWAL
    path = StorePath.resolved(url.path)
    let opened: OpenedDatabase
    do {
      opened = try OpenedDatabase.openForReading(path, readsDamagedWAL: readsDamagedWAL)
      try opened.connection.registerPredicateFunctions()
      try opened.connection.registerPlainTextFunction()
      objects = try Self.objects(opened.connection)
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .open, message: "The store \(url.path) can't be read")
    }
    let connection = opened.connection
    (file, self.connection) = (opened, connection)
    let names = Set(objects.map(\.name))
    guard names.contains("Z_METADATA") || names.contains("Z_PRIMARYKEY") else {
      if try connection.isWithoutItsWAL(at: url) { throw SQLiteConnection.missingWAL(url) }
      throw NSError.coreData(
        .open,
        "The database \(url.path) is not a Core Data store: it has no Z_METADATA and no Z_PRIMARYKEY. Check the path.")
    }
    var doubts: [String] = []
    if names.isSuperset(of: ["Z_METADATA", "Z_PRIMARYKEY"]) {
      do {
        try connection.checkStoreTables(at: url.path)
      } catch let error as SQLiteError {
        // A damaged file: the following reads find the parts that can't be read.
        doubts.append("The form of the tables can't be checked: \(error.message)")
      }
    }
    model = try Self.model(
      forStoreAt: url, file: modelFile, embedded: embeddedModels, readsDamagedWAL: readsDamagedWAL, &doubts)
    // What is derived from an entity is then computed once.
    model?.model.freeze()
    do {
      // All following reads see the store in one state, even if other processes write to it.
      try connection.execute("BEGIN; SELECT count(*) FROM sqlite_master")
    } catch let error as SQLiteError where error.isBusy {
      throw NSError.sqlite(error, .open, message: "The store \(url.path) can't be read")
    } catch {
      doubts.append("The store can't be read: \(Self.message(error))")
    }
    columns = Dictionary(
      uniqueKeysWithValues: objects.filter { $0.type == "table" }.map { table in
        (table.name, (try? Self.columns(of: table.name, connection)) ?? [])
      })
    keyRows = Self.attempt("Z_PRIMARYKEY can't be read", doubts: &doubts) { try Self.keyRows(connection) } ?? []
    let row = Self.attempt("Z_METADATA can't be read", doubts: &doubts) { try Self.metadata(connection) }
    uuid = row?.uuid
    metadata = row?.list
    storedHashes = Self.hashes(in: row?.list)
    schema = Self.schema(of: model, connection, url: url, &doubts)
    self.doubts = doubts
  }

  private init(server url: URL, modelFile: URL?, embeddedModels: [String]) throws {
    let server = try ServerExamination(url)
    let statements = server.statements
    (self.url, name, path, readsDamagedWAL) = (url, server.location, "", false)
    file = nil
    self.server = server
    connection = statements
    var doubts: [String] = []
    let row = Self.attempt("Z_METADATA can't be read", doubts: &doubts) { try server.metadata() }
    uuid = row?.uuid
    let list = row?.list.flatMap { try? PropertyListData.dictionary($0) }
    metadata = list
    storedHashes = Self.hashes(in: list)
    let found = Self.attempt("No model was found", doubts: &doubts) {
      try StoreModel.find(for: StoreMetadata(dictionary: list ?? [:]), file: modelFile, embedded: embeddedModels)
    }
    model = try (found ?? nil) ?? modelFile.map { try StoreModel.find(forStoreAt: nil, file: $0, embedded: []) }
    model?.model.freeze()
    objects =
      Self.attempt("The parts of the database can't be read", doubts: &doubts) { try server.parts() }?
      .map { SchemaObject(type: $0.type, name: $0.name, table: $0.table, sql: nil) } ?? []
    columns =
      Self.attempt("The columns can't be read", doubts: &doubts) { try server.columns() }?
      .mapValues { $0.map { Column(name: $0.name, type: $0.type) } } ?? [:]
    keyRows = Self.attempt("Z_PRIMARYKEY can't be read", doubts: &doubts) { try Self.keyRows(statements) } ?? []
    schema = model.flatMap { model in
      Self.attempt("The tables of the model can't be derived", doubts: &doubts) { try SQLSchema(model: model.model) }
    }
    self.doubts = doubts
  }

  private static func hashes(in metadata: [String: Any]?) -> [String: Data] {
    metadata?[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
  }

  /// A requested model must exist. Without a request, any result is acceptable, including none.
  private static func model(
    forStoreAt url: URL, file: URL?, embedded: [String], readsDamagedWAL: Bool, _ doubts: inout [String]
  ) throws -> StoreModel? {
    do {
      return try StoreModel.find(
        forStoreAt: url, file: file, embedded: embedded, readsDamagedWAL: readsDamagedWAL)
    } catch let error as NSError
      where error.code == NSPersistentStoreTimeoutError || error.storeFailureKind == .ioError
    {
      throw error
    } catch {
      doubts.append("No model was found: \(message(error))")
    }
    return try file.map { try StoreModel.find(forStoreAt: nil, file: $0, embedded: []) }
  }

  /// The schema as found in the store. If the store lacks a part, the schema that it should have, so that the checks
  /// find what is missing.
  private static func schema(
    of model: StoreModel?, _ connection: SQLiteConnection, url: URL, _ doubts: inout [String]
  ) -> SQLSchema? {
    guard let model = model?.model else { return nil }
    let fitted = attempt("The model does not fit the tables", doubts: &doubts) {
      try SQLSchema(model: model, configuration: nil, existing: StoreLayout(connection), location: url.path)
    }
    return fitted
      ?? attempt("The tables of the model can't be derived", doubts: &doubts) { try SQLSchema(model: model) }
  }

  /// The join tables and the columns of their two sides, by name.
  var joinTables: [(name: String, columns: [String])] {
    let all = (schema?.entities ?? []).flatMap(\.relationships.values).compactMap { kept -> (String, [String])? in
      guard case .manyToMany(let table, let source, let destination, _) = kept else { return nil }
      return (table, [source, destination].sorted(by: String.byteOrder))
    }
    return Dictionary(all, uniquingKeysWith: { first, _ in first })
      .map { (name: $0.key, columns: $0.value) }.sorted { String.byteOrder($0.name, $1.name) }
  }

  // MARK: Reading

  private static func objects(_ connection: SQLiteConnection) throws -> [SchemaObject] {
    try connection.rows("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid").map { row in
      SchemaObject(type: row[0].string ?? "", name: row[1].string ?? "", table: row[2].string ?? "", sql: row[3].string)
    }
  }

  private static func columns(of table: String, _ connection: SQLiteConnection) throws -> [Column] {
    try connection.rows("SELECT name, type FROM pragma_table_info(?) ORDER BY cid", [.text(table)]).map { row in
      Column(name: row[0].string ?? "", type: row[1].string ?? "")
    }
  }

  private static func keyRows(_ connection: any TableStatements) throws -> [KeyRow] {
    try connection.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT", []).map { row in
      KeyRow(
        number: row[0].int ?? 0, name: row[1].string ?? "", superNumber: row[2].int ?? 0, maximum: row[3].int ?? 0)
    }
  }

  private static func metadata(_ connection: SQLiteConnection) throws -> (uuid: String?, list: [String: Any]?) {
    guard let row = try connection.metadataRow() else {
      throw NSError.coreData(.open, "it has no row; restore the file from a copy")
    }
    return (row.uuid, row.list.flatMap { try? PropertyListData.dictionary($0) })
  }

  /// Nil, with the reason among the doubts, for operations that fail.
  static func attempt<Result>(_ what: String, doubts: inout [String], _ body: () throws -> Result) -> Result? {
    do {
      return try body()
    } catch {
      doubts.append("\(what): \(message(error))")
      return nil
    }
  }

  /// Call it after the last read. What was found where reads failed is not about the store.
  ///
  /// - Throws: `NSError` 134080 if the system could not read the file, 134090 if another program has written to it.
  func checkReads(at url: URL) throws {
    guard let file else { return }
    if file.connection.hasReadFailure {
      let failure = SQLiteError(POSIXError(.EIO), "disk I/O error")
      throw NSError.sqlite(failure, .open, message: "The store \(url.path) can't be read")
    }
    try file.checkUnchanged()
  }

  static func message(_ error: any Error) -> String {
    (error as? SQLiteError)?.message ?? (error as NSError).localizedDescription
  }
}

extension TableStatements {
  func rows(_ sql: String) throws -> [[StoredValue]] { try rows(sql, []) }
  func integer(_ sql: String) throws -> Int64? { try integer(sql, []) }
}

extension StoredValue {
  /// The value, if it has that kind.
  var int: Int? {
    guard case .integer(let number) = self else { return nil }
    return Int(number)
  }

  var string: String? {
    guard case .text(let text) = self else { return nil }
    return text
  }
}

extension String {
  /// The name quoted for SQL text; it may contain any character.
  var quotedName: String { "\"" + replacingOccurrences(of: "\"", with: "\"\"") + "\"" }
}
