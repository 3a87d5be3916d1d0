import ManagedObjectModel
import PersistentStores
import Foundation

extension StoreInspection {
  /// Inspects the store at `url`.
  ///
  /// - Parameters:
  ///   - url: The `.sqlite`, or the address of a database of a PostgreSQL server.
  ///   - modelFile: A model file whose versions are searched (`.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom`).
  ///     Without one, the embedded models, the store's own model cache and its tables are searched.
  ///   - embeddedModels: The names of embedded models that the store may use.
  ///   - tablePurposes: What tables of the client are for, by the prefix of their names in upper case.
  /// - Throws: `NSError` 134080 for a file that is missing, can't be read or is not a store, 134090 for one that
  ///   another program locks, and the error for an unreadable `modelFile`.
  public init(
    storeAt url: URL, modelFile: URL? = nil, embeddedModels: [String] = [], tablePurposes: [String: String] = [:]
  ) throws {
    try self.init(
      storeAt: url, modelFile: modelFile, embeddedModels: embeddedModels, tablePurposes: tablePurposes,
      readsDamagedWAL: false)
  }

  /// - Parameter readsDamagedWAL: Whether a damaged WAL is read up to its first wrong frame instead of being refused.
  package init(
    storeAt url: URL, modelFile: URL?, embeddedModels: [String], tablePurposes: [String: String],
    readsDamagedWAL: Bool
  ) throws {
    let store = try ExaminedStore(
      at: url, modelFile: modelFile, embeddedModels: embeddedModels, readsDamagedWAL: readsDamagedWAL)
    do {
      file = try File(store)
      server = try Server(store)
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .open, message: "The store \(url.path) can't be read")
    }
    var doubts = store.doubts
    self.store = store.name
    metadata = Metadata(store)
    let layout = InspectedEntities(store)
    entities = layout.entities(&doubts)
    joinTables = layout.joinTables(&doubts)
    indexes = ExaminedStore.attempt("The indexes can't be read", doubts: &doubts) { try store.indexes() } ?? []
    history = ExaminedStore.attempt("The history can't be counted", doubts: &doubts) { try History(store) } ?? nil
    modelCache =
      ExaminedStore.attempt("Z_MODELCACHE can't be read", doubts: &doubts) { try ModelCache(store) }
      ?? ModelCache(bytes: 0, isReadable: false)
    others = ExaminedStore.attempt("Triggers can't be read", doubts: &doubts) { try store.others(tablePurposes) } ?? []
    let isFile = store.server == nil
    externalData =
      ExaminedStore.attempt("Large values can't be counted", doubts: &doubts) {
        isFile ? try ExternalData(url) : nil
      } ?? nil
    model = Model(store)
    remarks = []
    remarks = unusual() + doubts.map { Remark(code: "unreadable", message: $0) }
    try store.checkReads(at: url)
  }
}

extension ExaminedStore {
  /// Nil if the hashes can't be known.
  var isModelCompatible: Bool? {
    guard let model, model.origin != .tables, metadata != nil else { return nil }
    let known = model.model.entitiesByName
    return Set(known.keys) == Set(storedHashes.keys)
      && known.allSatisfy { hashFits($0.value) ?? true }
  }

  /// Nil if the store or the model does not have a hash of the entity.
  func hashFits(_ entity: NSEntityDescription) -> Bool? {
    guard let model, model.origin != .tables, entity.hasExactVersionHash, let name = entity.name,
      let stored = storedHashes[name]
    else { return nil }
    return stored == entity.versionHash
  }

  /// Indexes created by SQL text: those of PRIMARY KEY and UNIQUE have none.
  fileprivate func indexes() throws -> [StoreInspection.Index] {
    if let server {
      return try server.indexes().map { index in
        StoreInspection.Index(name: index.name, table: index.table, columns: index.columns, isUnique: index.isUnique)
      }
    }
    return try objects.filter { $0.type == "index" && $0.sql != nil }.map { index in
      let columns = try connection.rows(
        "SELECT name FROM pragma_index_info(?) ORDER BY seqno", [.text(index.name)])
      let isUnique = try connection.integer(
        "SELECT \"unique\" FROM pragma_index_list(?) WHERE name = ?", [.text(index.table), .text(index.name)])
      return StoreInspection.Index(
        name: index.name, table: index.table, columns: columns.map { $0[0].string ?? "" }, isUnique: isUnique == 1)
    }
  }

  /// Objects that neither the model nor the framework created.
  fileprivate func others(_ tablePurposes: [String: String]) throws -> [StoreInspection.Other] {
    let functions =
      server != nil
      ? []
      : Set(try connection.rows("SELECT DISTINCT lower(name) FROM pragma_function_list").compactMap { $0[0].string })
    let known = knownTables
    let ownViews = try ownViews()
    return objects.filter { object in
      switch object.type {
      case "index": !known.contains(object.table) && (object.sql != nil || server != nil)
      case "view": !ownViews.contains(object.name)
      case "table": !known.contains(object.name) && !object.name.hasPrefix("sqlite_")
      default: true
      }
    }
    .map { object in
      let unknown =
        object.type == "trigger"
        ? TriggerText.functions(in: object.sql ?? "").filter { !functions.contains($0.lowercased()) } : []
      return StoreInspection.Other(
        type: object.type, name: object.name, table: object.table, purpose: Self.purpose(of: object, tablePurposes),
        unknownFunctions: unknown.sorted())
    }
  }

  /// The views that belong to a store of a server.
  private func ownViews() throws -> Set<String> {
    guard let server else { return [] }
    return try (model.map { model in try schema.map { try server.ownViews($0, model.model) } ?? [] } ?? [])
      .union(["Z_PRIMARYKEY"])
  }

  /// The tables of a Core Data layout: those of the model's entities, or without a model those in Z_PRIMARYKEY.
  var knownTables: Set<String> {
    var names: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
    names.formUnion(Self.historyTables)
    if let schema {
      names.formUnion(schema.entities.map(\.tableName))
      names.formUnion(joinTables.map(\.name))
    } else {
      names.formUnion(keyRows.map { "Z\($0.name.uppercased())" })
    }
    return names
  }

  static let historyTables = ["ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING", "ocd_history"]

  private static func purpose(of object: SchemaObject, _ purposes: [String: String]) -> String? {
    let name = object.table.uppercased()
    if let known = purposes.first(where: { name.hasPrefix($0.key) }) { return known.value }
    if name == "OPENCOREDATA_DEFERRED_INDEX" { return "indexes that an unfinished import has left out" }
    if name.hasPrefix("ANSCK") { return "mirroring to CloudKit" }
    if object.name.uppercased().hasPrefix("Z_DA_") { return "derived attribute" }
    if object.name.uppercased().hasPrefix("Z_RT_") { return "index of places (R-tree)" }
    let isTree = object.sql?.uppercased().contains("RTREE") == true
    if isTree || ["_NODE", "_ROWID", "_PARENT"].contains(where: name.hasSuffix) {
      return "index of places (R-tree)"
    }
    return nil
  }
}

/// The text of a trigger, parsed far enough to find the functions that it calls.
enum TriggerText {
  /// Words that precede a parenthesis and are not functions.
  private static let words: Set<String> = [
    "in", "values", "and", "or", "not", "when", "select", "on", "exists", "of", "set", "as", "case", "then", "else",
    "from", "where", "by", "using", "over", "filter", "join", "having", "limit", "union", "between", "like", "is",
  ]

  /// The names of the called functions.
  static func functions(in sql: String) -> Set<String> {
    var result: Set<String> = []
    var (word, before, gap) = ("", "", false)
    var quote: Character?
    for character in sql {
      if let open = quote {
        if character == open { quote = nil }
        continue
      }
      if character.isLetter || character.isNumber || character == "_" {
        if gap { (before, word, gap) = (word, "", false) }
        word.append(character)
        continue
      }
      // A list of columns may follow the name of a table.
      if character == "(", !word.isEmpty, !["into", "table"].contains(before.lowercased()),
        !words.contains(word.lowercased()), word.first?.isNumber == false
      {
        result.insert(word)
      }
      if character == "'" || character == "\"" { quote = character }
      if character.isWhitespace { gap = true } else { (before, word, gap) = (word, "", false) }
    }
    return result
  }
}

extension StoreInspection.Metadata {
  fileprivate init(_ store: ExaminedStore) {
    let list = store.metadata ?? [:]
    uuid = store.uuid
    storeType = list[NSStoreTypeKey] as? String
    frameworkVersion = (list[NSPersistenceFrameworkVersionKey] as? NSNumber)?.intValue
    versionIdentifiers = list[NSStoreModelVersionIdentifiersKey] as? [String] ?? []
    hashesVersion = (list[NSStoreModelVersionHashesVersionKey] as? NSNumber)?.intValue
    hashesDigest = list[NSStoreModelVersionHashesDigestKey] as? String
    checksum = list[NSStoreModelVersionChecksumKey] as? String
    ownKeys = StoreMetadata(dictionary: list).custom.mapValues(Self.text)
  }
}

extension StoreInspection.Metadata {
  /// A value of the property list. Foundation stops the program for dates beyond its calendar, also within lists.
  private static func text(_ value: Any) -> String {
    switch value {
    case let date as Date:
      let seconds = date.timeIntervalSinceReferenceDate
      return abs(seconds) < secondsMax ? "\(date)" : "\(seconds) s since 2001"
    case let list as [Any]: return "[" + list.map(text).joined(separator: ", ") + "]"
    case let members as [String: Any]:
      let sorted = members.sorted { String.byteOrder($0.key, $1.key) }
      return "[" + sorted.map { "\($0.key): \(text($0.value))" }.joined(separator: ", ") + "]"
    default: return "\(value)"
    }
  }

  /// 30,000 years.
  private static let secondsMax = 1e12
}

extension StoreInspection.Model {
  init?(_ store: ExaminedStore) {
    guard let model = store.model else { return nil }
    (origin, name) =
      switch model.origin {
      case .file(let version): ("file", version)
      case .embedded(let name): ("embedded", name)
      case .cache: ("cache", nil)
      case .tables: ("tables", nil)
      }
    isCompatible = store.isModelCompatible
    notes = model.notes
  }
}

extension StoreInspection.History {
  fileprivate init?(_ store: ExaminedStore) throws {
    guard store.tables.contains("ATRANSACTION"), store.tables.contains("ACHANGE") else { return nil }
    transactions = Int(try store.connection.integer("SELECT count(*) FROM ATRANSACTION") ?? 0)
    changes = Int(try store.connection.integer("SELECT count(*) FROM ACHANGE") ?? 0)
  }
}

extension StoreInspection.ModelCache {
  init(_ store: ExaminedStore) throws {
    let hasTable = store.tables.contains("Z_MODELCACHE")
    bytes = hasTable ? Int(try store.connection.integer("SELECT sum(length(Z_CONTENT)) FROM Z_MODELCACHE") ?? 0) : 0
    isReadable =
      bytes > 0
      && (try? StoreModel.find(
        forStoreAt: store.url, file: nil, embedded: [], readsDamagedWAL: store.readsDamagedWAL))?.origin == .cache
  }
}

extension StoreInspection.Server {
  fileprivate init?(_ store: ExaminedStore) throws {
    guard let server = store.server else { return nil }
    let facts = try server.facts(of: store.knownTables.sorted())
    self.init(version: facts.version, database: facts.database, encoding: facts.encoding, bytes: facts.bytes)
  }
}
