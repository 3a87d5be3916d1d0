import ManagedObjectModel
import PersistentStores

extension StoreInspection {
  /// Features that a store in the current format of Apple's framework does not have.
  func unusual() -> [Remark] {
    (unusualFile() + unusualMetadata() + unusualEntities() + unusualOthers())
      .map { Remark(code: $0, message: $1) }
  }

  private func unusualFile() -> [(String, String)] {
    guard let file else { return [] }
    var result: [(String, String)] = []
    if file.journalMode == "delete" {
      result.append(
        ("deleteMode", "Its journal mode is delete: it has no WAL, and a reader and a writer wait for each other."))
    }
    if file.pageSizeBytes != 4096 {
      result.append(("pageSize", "Its pages have \(file.pageSizeBytes) bytes; since 2010 they have 4096."))
    }
    if file.encoding != "UTF-8" { result.append(("encoding", "Its texts are \(file.encoding), not UTF-8.")) }
    if file.autoVacuum != "incremental" {
      result.append(("autoVacuum", "Its auto_vacuum is \(file.autoVacuum), not incremental."))
    }
    if file.journalMode == "wal", file.wal == nil, !entities.isEmpty, entities.allSatisfy({ ($0.rows ?? 0) == 0 }) {
      result.append(
        (
          "logMissing",
          "It has no rows, and no -wal next to it: if there should be rows, they are in a -wal that was not copied. "
            + "Bring the .sqlite, -wal and -shm together, all three as they were in one place at one time."
        ))
    }
    switch file.wal?.state {
    case "foreign":
      result.append(
        ("foreignLog", "The -wal next to it does not belong to this database: find out where it comes from."))
    case "damaged":
      result.append(
        (
          "damagedLog",
          "The -wal next to it is damaged: transactions after its first \(file.wal?.frames ?? 0) pages are lost. Restore "
            + "the store from a copy."
        ))
    case "valid" where file.sharedMemory == nil:
      result.append(
        (
          "sharedMemoryMissing",
          "There is a -wal and no -shm: readers work on a copy until a program opens it for writing."
        ))
    default: break
    }
    return result
  }

  private func unusualMetadata() -> [(String, String)] {
    var result: [(String, String)] = []
    if let version = metadata.frameworkVersion, version < Self.firstFrameworkWithDigest {
      result.append(
        (
          "oldFramework",
          "Framework \(version) wrote it: before \(Self.firstFrameworkWithDigest) stores had no digest of the hashes."
        ))
    }
    if let type = metadata.storeType, type != (server == nil ? "SQLite" : "PostgreSQL") {
      result.append(("storeType", "Its type is \(type), not \(server == nil ? "SQLite" : "PostgreSQL")."))
    }
    if let version = metadata.hashesVersion, version != 3 {
      result.append(("hashesVersion", "Its hashes have version \(version); only 3 is known."))
    }
    return result
  }
  private static let firstFrameworkWithDigest = 1044

  private func unusualEntities() -> [(String, String)] {
    var result: [(String, String)] = []
    func names(_ entities: [Entity]) -> String { entities.map(\.name).joined(separator: ", ") }
    let differing = entities.filter { $0.hashFitsModel == false }
    if !differing.isEmpty {
      result.append(
        (
          "hashMismatch",
          "The version hashes of the model differ from the store's for: \(names(differing)). Give the version "
            + "that the store was made with."
        ))
    }
    let renamed = entities.compactMap { entity in entity.storedName.map { "\($0) for \(entity.name)" } }
    if !renamed.isEmpty {
      result.append(
        ("renamedEntity", "Z_PRIMARYKEY has names from before a migration: \(renamed.joined(separator: ", "))."))
    }
    let missing = entities.filter { $0.number == nil || $0.table == nil }
    if !missing.isEmpty { result.append(("notInStore", "The store does not have these entities: \(names(missing)).")) }
    if model == nil || model?.origin == "tables" {
      result.append(
        (
          "modelUnknown",
          "Its model is not known: names and types are those of the columns. Give the model with --model."
        ))
    }
    return result
  }

  private func unusualOthers() -> [(String, String)] {
    var result: [(String, String)] = []
    if let history {
      result.append(
        (
          "history",
          "It tracks its history (\(history.transactions) transactions). What is written here is added to it."
        ))
    }
    let triggers = others.filter { !$0.unknownFunctions.isEmpty }
    if !triggers.isEmpty {
      let functions = Set(triggers.flatMap(\.unknownFunctions)).sorted().joined(separator: ", ")
      result.append(
        (
          "unknownFunctions",
          "These triggers call functions that only other programs have (\(functions)), so that their "
            + "tables can't be written to here: \(triggers.map(\.name).joined(separator: ", "))."
        ))
    }
    let foreign = others.filter { $0.purpose == nil && $0.unknownFunctions.isEmpty }
    if !foreign.isEmpty {
      result.append(
        (
          "foreignObjects",
          "These were not created by Core Data: "
            + foreign.map { "\($0.type) \($0.name)" }.joined(separator: ", ") + "."
        ))
    }
    return result
  }
}
