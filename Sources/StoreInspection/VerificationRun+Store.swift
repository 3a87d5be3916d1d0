import ManagedObjectModel
import PersistentStores
import Foundation

/// Checks of the file, its metadata and its key rows.
extension VerificationRun {
  private var restore: String {
    store.server == nil
      ? "Restore the file from a copy, or save what can be read with the .recover command of sqlite3."
      : "Restore the database from a copy."
  }

  private mutating func checkWAL() {
    guard let file = try? StoreInspection.File(store), file.wal?.state == "damaged" else { return }
    add(
      "logDamaged", "The -wal is damaged: transactions after its first \(file.wal?.frames ?? 0) pages are lost.",
      advice: "Restore the store from a copy.")
  }

  /// What the tables of the model should have in a database of a server.
  mutating func checkDatabase(_ schema: SQLSchema, _ model: NSManagedObjectModel) throws {
    guard let server = store.server else { return }
    for problem in try server.differences(schema, model) {
      add(
        problem.code, severity: Self.harmless.contains(problem.code) ? .warning : .error, table: problem.table,
        count: problem.count, keys: problem.keys, problem.message, advice: problem.advice)
    }
  }
  /// What objects do not depend on.
  private static let harmless: Set<String> = ["viewMissing", "indexMissing"]

  mutating func checkIntegrity() throws {
    if let server = store.server {
      for problem in try server.damage() {
        add(problem.code, table: problem.table, problem.message, advice: problem.advice)
      }
      return
    }
    checkWAL()
    let answers: [String]
    do {
      answers = try store.connection.rows("PRAGMA integrity_check(20)").compactMap { $0.first?.string }
    } catch let error as SQLiteError where !error.isBusy {
      // Some kinds of damage end the integrity check.
      answers = [error.message]
    }
    for answer in answers where answer != "ok" { add("damaged", "SQLite finds: \(answer)", advice: restore) }
  }

  mutating func checkMetadata() throws {
    guard store.tables.contains("Z_METADATA") else {
      add("metadataMissing", table: "Z_METADATA", "Z_METADATA is missing.", advice: restore)
      return
    }
    let count = Int(try store.connection.integer("SELECT count(*) FROM Z_METADATA") ?? 0)
    if count != 1 {
      add(
        "metadataRows", table: "Z_METADATA", count: count, "Z_METADATA has \(count) rows; there must be exactly one.",
        advice: restore)
    }
    guard count > 0 else { return }
    if store.uuid.flatMap(UUID.init(uuidString:)) == nil {
      add(
        "uuid", table: "Z_METADATA",
        "The store's UUID is \(store.uuid.map { "'\($0)'" } ?? "missing"), which is not a UUID.",
        advice: "Set Z_UUID to a new one, such as uuidgen prints.")
    }
    if let version = try store.connection.rows("SELECT Z_VERSION FROM Z_METADATA ORDER BY Z_VERSION").first?.first,
      version != .integer(1)
    {
      add(
        "formatVersion", table: "Z_METADATA", "Z_VERSION is \(version.int.map(String.init) ?? "not a number"), not 1.",
        advice: "Open the store with the program that wrote it: other versions of the format are unknown here.")
    }
    guard store.metadata != nil else {
      add("metadataUnreadable", table: "Z_METADATA", "Z_PLIST is not a property list.", advice: restore)
      return
    }
    try checkHashes()
  }

  /// The framework writes one model into a store and reads the first.
  mutating func checkModelCache() throws {
    let table = "Z_MODELCACHE"
    guard store.tables.contains(table) else {
      if let version = (store.metadata?[NSPersistenceFrameworkVersionKey] as? NSNumber)?.intValue,
        version >= Self.firstFrameworkWithCache
      {
        add(
          "modelCacheMissing", severity: .warning, table: table, "\(table) is missing.",
          advice: "Keep the model with the store: it can't be read from it.")
      }
      return
    }
    let count = Int(try store.connection.integer("SELECT count(*) FROM \(table)") ?? 0)
    if count > 1 {
      add(
        "modelCacheDoubled", severity: .warning, table: table, count: count,
        "\(table) has \(count) rows; the first is read.", advice: "Open the store once with the program that made it.")
    }
    // Programs without the store's model would have to guess names and types from its tables.
    let cache = try StoreInspection.ModelCache(store)
    guard cache.bytes > 0, !cache.isReadable else { return }
    let reason = store.model?.notes.first { $0.hasPrefix(StoreModel.unusableCacheNote) }
    add(
      "modelCacheUnreadable", table: table, reason ?? "The model that the store keeps can't be read.",
      advice: "Restore the store from a copy. Until then, give its model with --model.")
  }
  /// Earlier frameworks did not keep models in stores.
  private static let firstFrameworkWithCache = 637

  /// The rows of Z_PRIMARYKEY by themselves, which need no model.
  mutating func checkKeyRows() {
    var names: Set<String> = []
    var numbers: Set<Int> = []
    for row in store.keyRows {
      if row.name.isEmpty {
        add(
          "keyRowNameless", table: "Z_PRIMARYKEY", count: 1, keys: [row.number],
          "Z_PRIMARYKEY has a row without a name.", advice: restore)
      } else if !names.insert(row.name).inserted {
        add(
          "keyRowDoubled", table: "Z_PRIMARYKEY", count: 1, keys: [row.number],
          "Z_PRIMARYKEY has two rows named \(row.name).", advice: restore)
      }
      numbers.insert(row.number)
    }
    for row in store.keyRows where row.superNumber != 0 && !numbers.contains(row.superNumber) {
      add(
        "keyRowSuper", table: "Z_PRIMARYKEY", count: 1, keys: [row.number],
        "Z_PRIMARYKEY says that \(row.name) inherits from number \(row.superNumber), which is not there.",
        advice: restore)
    }
  }

  private mutating func checkHashes() throws {
    let stored = store.storedHashes
    let metadata = StoreMetadata(dictionary: store.metadata ?? [:])
    let advice = "Migrate the store with a model that fits it, or restore it from a copy."
    if let digest = metadata.versionHashesDigest, digest != VersionHash.digest(of: stored) {
      add(
        "digest", severity: .warning, table: "Z_METADATA",
        "The digest of the version hashes does not match the hashes.", advice: advice)
    }
    if let checksum = metadata.versionChecksum, checksum != VersionHash.checksum(of: stored) {
      add(
        "checksum", severity: .warning, table: "Z_METADATA",
        "The checksum of the version hashes does not match the hashes.", advice: advice)
    }
    guard let model = store.model, model.origin != .tables else { return }
    let known = model.model.entitiesByName
    for (name, entity) in known.sorted(by: { $0.key < $1.key }) {
      if stored[name] == nil {
        add(
          "hashMissing", entity: name, "The store's metadata has no version hash of \(name).", advice: Self.modelAdvice)
      } else if store.hashFits(entity) == false {
        add("hashMismatch", entity: name, "The version hash of \(name) is not the model's.", advice: Self.modelAdvice)
      }
    }
    for name in stored.keys.sorted() where known[name] == nil {
      add(
        "hashUnknown", entity: name, "The store's metadata has a version hash of \(name), which the model lacks.",
        advice: Self.modelAdvice)
    }
  }
  private static let modelAdvice = "Give the version of the model that the store was made with, or migrate the store."

  mutating func checkKeys(_ entities: [VerifiedEntity]) throws {
    let rows = Dictionary(grouping: store.keyRows, by: \.number)
    for entity in entities {
      guard let row = rows[entity.sql.number]?.first else {
        add(
          "keyRowMissing", entity: entity.name, table: "Z_PRIMARYKEY",
          "Z_PRIMARYKEY has no row for \(entity.name) (Z_ENT \(entity.sql.number)).", advice: Self.modelAdvice)
        continue
      }
      let names = [entity.name, entity.entity.renamingIdentifier ?? entity.name]
      if !names.contains(row.name) {
        add(
          "keyRowName", entity: entity.name, table: "Z_PRIMARYKEY",
          "Z_PRIMARYKEY names number \(row.number) \(row.name), the model \(entity.name).", advice: Self.modelAdvice)
      }
      if row.superNumber != entity.sql.superNumber {
        add(
          "keyRowSuper", entity: entity.name, table: "Z_PRIMARYKEY",
          "Z_PRIMARYKEY says that \(entity.name) inherits from number \(row.superNumber); in the model it is "
            + "\(entity.sql.superNumber).", advice: Self.modelAdvice)
      }
      if entity.isRoot { try checkSequence(entity, row) }
    }
    let known = Set(entities.map(\.sql.number))
    for row in store.keyRows where row.number < ExaminedStore.firstHistoryNumber && !known.contains(row.number) {
      add(
        "keyRowUnknown", severity: .warning, table: "Z_PRIMARYKEY", count: 1, keys: [row.number],
        "Z_PRIMARYKEY has a row for \(row.name), which the model lacks.", advice: Self.modelAdvice)
    }
  }

  private mutating func checkSequence(_ entity: VerifiedEntity, _ row: ExaminedStore.KeyRow) throws {
    guard has(entity.sql.tableName, ["Z_PK"]) else { return }
    let greatest = Int(try store.connection.integer("SELECT max(Z_PK) FROM \(entity.table)") ?? 0)
    guard greatest > row.maximum else { return }
    add(
      "keySequence", entity: entity.name, table: "Z_PRIMARYKEY", count: 1, keys: [greatest],
      "The last key of \(entity.name) is \(greatest), but Z_MAX is \(row.maximum): the next objects would get keys that "
        + "others have.", advice: "Set Z_MAX of \(row.name) to \(greatest).")
  }

  mutating func checkHistory() throws {
    guard has("ACHANGE", ["ZTRANSACTIONID"]), has("ATRANSACTION", ["Z_PK"]) else { return }
    let lost = try rows(
      in: "ACHANGE t",
      where:
        "t.ZTRANSACTIONID IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ATRANSACTION a WHERE a.Z_PK = t.ZTRANSACTIONID)")
    if let lost {
      add(
        "historyChange", table: "ACHANGE", count: lost.count, keys: lost.keys,
        "\(lost.count) changes belong to transactions that are not there.",
        advice: "Have the program that made the store purge its history.")
    }
  }

  mutating func checkExternalData(_ entities: [VerifiedEntity]) throws {
    let folder = LargeValues.valueFolder(of: store.url)
    let files = Set(try LargeValues.names(in: folder))
    var named: Set<String> = []
    for entity in entities {
      for (attribute, column) in zip(entity.entity.attributeSlots, entity.sql.attributeColumns) {
        guard attribute.allowsExternalBinaryDataStorage, let column, has(entity.sql.tableName, [column.name]) else {
          continue
        }
        named.formUnion(try checkExternal(entity, attribute.name, column: column.name.quotedName, files: files))
      }
    }
    let marks = LargeValues.markFolder(of: store.url)
    let marked = Set(try LargeValues.names(in: marks))
    let orphans = files.subtracting(named)
    addOrphans(
      "largeValueOrphan", orphans.subtracting(marked), in: folder, advice: "Remove them if nothing else uses them.")
    addOrphans(
      "largeValuePending", orphans.intersection(marked), in: folder,
      advice: "A save is under way or was ended early: the next program that opens the store for writing removes them.")
  }

  private mutating func addOrphans(_ code: String, _ orphans: Set<String>, in folder: URL, advice: String) {
    guard !orphans.isEmpty else { return }
    let listed = orphans.sorted().prefix(Self.keysListedMax).joined(separator: ", ")
    add(
      code, severity: .warning, count: orphans.count,
      "\(orphans.count) files in \(folder.path) belong to no object: \(listed).", advice: advice)
  }

  /// Values whose first byte is 2 contain the name of a file: 36 characters and a zero byte. The result is these names.
  private mutating func checkExternal(
    _ entity: VerifiedEntity, _ property: String, column: String, files: Set<String>
  ) throws -> Set<String> {
    let table = "\(entity.table) t"
    let isFile =
      "\(entity.isOwn) AND typeof(\(column)) = 'blob' AND hex(substr(\(column), 1, 1)) = '02' AND length(\(column)) = 38"
    let found = try store.connection.rows(
      "SELECT Z_PK, CAST(substr(\(column), 2, 36) AS TEXT) FROM \(table) WHERE \(isFile) ORDER BY Z_PK")
    let missing = found.filter { !files.contains($0[1].string ?? "") }
    let folder = LargeValues.valueFolder(of: store.url)
    let links = found.filter { row in
      guard let name = row[1].string, files.contains(name) else { return false }
      var status = stat()
      return lstat(folder.appendingPathComponent(name).path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }
    if !links.isEmpty {
      add(
        "largeValueLink", entity: entity.name, property: property, table: entity.sql.tableName, count: links.count,
        keys: links.prefix(Self.keysListedMax).compactMap { $0[0].int },
        "The files of \(links.count) values are links or no regular files, and are not read.",
        advice: "Replace each by the file that it stands for.")
    }
    if !missing.isEmpty {
      add(
        "largeValueMissing", entity: entity.name, property: property, table: entity.sql.tableName,
        count: missing.count, keys: missing.prefix(Self.keysListedMax).compactMap { $0[0].int },
        "The files of \(missing.count) values are not in the folder next to the store.",
        advice:
          "Copy the store's folder \(LargeValues.supportFolder(of: store.url).lastPathComponent) from where the store "
          + "comes from.")
    }
    return Set(found.compactMap { $0[1].string })
  }
}
