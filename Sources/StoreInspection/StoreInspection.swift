import ManagedObjectModel
import PersistentStores
import Foundation

/// What is in a store's file: entities, counts, hashes, where its model comes from, and what is unusual.
///
/// ```swift
/// let inspection = try StoreInspection(storeAt: url, modelFile: nil, embeddedModels: ["SurfJournalModel"])
/// print(inspection.text())
/// ```
///
/// Looking writes nothing: the bytes of the file, its `-wal` and its `-shm` stay as they are. What can't be read of a
/// damaged store is told by ``remarks``. As JSON the keys are those of `Pipelines/inspection.schema.json`.
public struct StoreInspection: Codable, Hashable, Sendable {
  /// Of the JSON form: keys stay as they are within a version.
  public var formatVersion = 1
  /// The path, as it was given.
  public var store: String
  public var file: File
  public var metadata: Metadata
  public var model: Model?
  /// By number; those that only the model has come last.
  public var entities: [Entity]
  /// The tables of many-to-many relationships.
  public var joinTables: [JoinTable]
  public var indexes: [Index]
  /// Nil where no history is tracked.
  public var history: History?
  public var modelCache: ModelCache
  /// Tables, views and triggers that no layout of Core Data has.
  public var others: [Other]
  /// Nil where there is no folder for large values.
  public var externalData: ExternalData?
  /// What is unusual about the store, or could not be read.
  public var remarks: [Remark]

  /// The database file and what lies beside it.
  public struct File: Codable, Hashable, Sendable {
    public var bytes: Int
    public var pageSizeBytes: Int
    public var pages: Int
    /// Pages that hold nothing, which a vacuum gives back.
    public var freePages: Int
    /// `wal` or `delete`.
    public var journalMode: String
    public var encoding: String
    /// `none`, `full` or `incremental`.
    public var autoVacuum: String
    public var log: Log?
    public var sharedMemory: SharedMemory?
  }

  /// The `-wal`.
  public struct Log: Codable, Hashable, Sendable {
    public var bytes: Int
    /// Pages in it that belong to the last run of the log: after them older ones may follow.
    public var frames: Int
    /// `empty`, `valid`, or `foreign` for a file that is no log of a database with this page size.
    public var state: String
  }

  /// The `-shm`.
  public struct SharedMemory: Codable, Hashable, Sendable {
    public var bytes: Int
    /// `valid`, `stale` where it speaks of another log, or `empty`. SQLite makes it anew where it has to.
    public var state: String
  }

  /// What Z_METADATA says.
  public struct Metadata: Codable, Hashable, Sendable {
    public var uuid: String?
    public var storeType: String?
    /// NSPersistenceFrameworkVersion.
    public var frameworkVersion: Int?
    public var versionIdentifiers: [String]
    public var hashesVersion: Int?
    public var hashesDigest: String?
    public var checksum: String?
    /// The clients' own keys and their values, as text.
    public var ownKeys: [String: String]
  }

  public struct Model: Codable, Hashable, Sendable {
    /// `file`, `embedded`, `cache` or `tables`.
    public var origin: String
    /// The version's or embedded model's name; nil for the others.
    public var name: String?
    /// Whether every version hash is the store's; nil where the model is only guessed from the tables.
    public var fits: Bool?
    /// What is unknown or was left out.
    public var notes: [String]
  }

  public struct Entity: Codable, Hashable, Sendable {
    public var name: String
    /// The name in Z_PRIMARYKEY where it is another one: it stays as it was when a migration renames the entity.
    public var storedName: String?
    /// Z_ENT; nil where the store does not have the entity.
    public var number: Int?
    public var superentity: String?
    public var isAbstract: Bool?
    public var table: String?
    /// Rows of exactly this entity, subentities apart; nil where they can't be counted.
    public var rows: Int?
    /// Z_MAX: the last key that was given out. Only a root's counts.
    public var maximumKey: Int?
    /// Base64, as the store has it.
    public var versionHash: String?
    /// Nil where either has none.
    public var hashFitsModel: Bool?
    /// Own ones and inherited ones, by name.
    public var attributes: [Attribute]
    public var relationships: [Relationship]
    /// The names of the attributes of each.
    public var uniquenessConstraints: [[String]]
  }

  public struct Attribute: Codable, Hashable, Sendable {
    public var name: String
    /// As the model editor writes it, such as `Integer 16`; of a store without a model the column's type.
    public var type: String
    public var isOptional: Bool
    /// Nil for a transient attribute.
    public var column: String?
  }

  public struct Relationship: Codable, Hashable, Sendable {
    public var name: String
    public var destination: String
    public var inverse: String?
    public var isToMany: Bool
    public var isOrdered: Bool
    public var isOptional: Bool
    /// Where it is kept: the table and column of the key, or the join table and its two columns.
    public var table: String?
    public var columns: [String]
  }

  public struct JoinTable: Codable, Hashable, Sendable {
    public var table: String
    /// Nil where they can't be counted.
    public var rows: Int?
  }

  public struct Index: Codable, Hashable, Sendable {
    public var name: String
    public var table: String
    public var columns: [String]
    public var isUnique: Bool
  }

  public struct History: Codable, Hashable, Sendable {
    public var transactions: Int
    public var changes: Int
  }

  public struct ModelCache: Codable, Hashable, Sendable {
    /// 0 where there is none.
    public var bytes: Int
    /// Whether a model can be made of it.
    public var isReadable: Bool
  }

  public struct Other: Codable, Hashable, Sendable {
    /// `table`, `index`, `view` or `trigger`.
    public var type: String
    public var name: String
    public var table: String
    /// What it is for, where its name tells.
    public var purpose: String?
    /// Functions in a trigger's text that SQLite does not have.
    public var unknownFunctions: [String]
  }

  public struct ExternalData: Codable, Hashable, Sendable {
    public var folder: String
    public var files: Int
    public var bytes: Int
  }

  public struct Remark: Codable, Hashable, Sendable {
    /// A word that stays, such as `hashMismatch`.
    public var code: String
    public var message: String
  }
}
