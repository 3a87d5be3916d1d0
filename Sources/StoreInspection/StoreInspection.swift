import ManagedObjectModel
import PersistentStores
import Foundation

/// The contents of a store's file: entities, counts, hashes, the origin of its model, and anything unusual.
///
/// ```swift
/// let inspection = try StoreInspection(storeAt: url, embeddedModels: ["SurfJournalModel"])
/// print(inspection.text())
/// ```
///
/// Inspection does not write: the bytes of the file, its `-wal` and its `-shm` do not change. ``remarks`` reports the
/// unreadable parts of a damaged store. The keys of the JSON form are those of `Pipelines/inspection.schema.json`.
public struct StoreInspection: Codable, Hashable, Sendable {
  /// The version of the JSON form: keys do not change within a version.
  public var formatVersion = 1
  /// The path as given.
  public var store: String
  public var file: File
  public var metadata: Metadata
  public var model: Model?
  /// By number; entities that only the model has come last.
  public var entities: [Entity]
  /// The tables of many-to-many relationships.
  public var joinTables: [JoinTable]
  public var indexes: [Index]
  /// Nil unless history is tracked.
  public var history: History?
  public var modelCache: ModelCache
  /// Tables, views and triggers that do not belong to Core Data's layout.
  public var others: [Other]
  /// Nil if there is no folder for large values.
  public var externalData: ExternalData?
  /// What is unusual about the store or could not be read.
  public var remarks: [Remark]

  /// The database file and the files next to it.
  public struct File: Codable, Hashable, Sendable {
    public var bytes: Int
    public var pageSizeBytes: Int
    public var pages: Int
    /// Unused pages, which a vacuum releases.
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
    /// Pages up to the end of the last transaction. An unfinished transaction or older pages may follow them.
    public var frames: Int
    /// `empty`, `valid`, `damaged` if transactions are lost, or `foreign` for a file that is not the WAL of a database
    /// with this page size.
    public var state: String
  }

  /// The `-shm`.
  public struct SharedMemory: Codable, Hashable, Sendable {
    public var bytes: Int
    /// `valid`, `stale` if it refers to another WAL, or `empty`. SQLite creates it again if necessary.
    public var state: String
  }

  /// The contents of Z_METADATA.
  public struct Metadata: Codable, Hashable, Sendable {
    public var uuid: String?
    public var storeType: String?
    /// NSPersistenceFrameworkVersion.
    public var frameworkVersion: Int?
    public var versionIdentifiers: [String]
    public var hashesVersion: Int?
    public var hashesDigest: String?
    public var checksum: String?
    /// The clients' keys and their values, as text.
    public var ownKeys: [String: String]
  }

  public struct Model: Codable, Hashable, Sendable {
    /// `file`, `embedded`, `cache` or `tables`.
    public var origin: String
    /// The name of the version or embedded model; nil for the other origins.
    public var name: String?
    /// Whether every version hash equals the store's; nil if the model was derived from the tables.
    public var fits: Bool?
    /// Unknown or omitted parts.
    public var notes: [String]
  }

  public struct Entity: Codable, Hashable, Sendable {
    public var name: String
    /// The name in Z_PRIMARYKEY if it differs: a migration that renames the entity leaves it unchanged.
    public var storedName: String?
    /// Z_ENT; nil if the store does not have the entity.
    public var number: Int?
    public var superentity: String?
    public var isAbstract: Bool?
    public var table: String?
    /// Rows of exactly this entity, without subentities; nil if they can't be counted.
    public var rows: Int?
    /// Z_MAX: the last allocated key. Only a root's value is used.
    public var maximumKey: Int?
    /// Base64, as in the store.
    public var versionHash: String?
    /// Whether the hashes are equal; nil if either is missing.
    public var hashFitsModel: Bool?
    /// Own and inherited ones, by name.
    public var attributes: [Attribute]
    public var relationships: [Relationship]
    /// The names of the attributes of each.
    public var uniquenessConstraints: [[String]]
  }

  public struct Attribute: Codable, Hashable, Sendable {
    public var name: String
    /// The type in the model editor's words, such as `Integer 16`; for a store without a model the column's type.
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
    /// Where it is stored: the table and column of the key, or the join table and its two columns.
    public var table: String?
    public var columns: [String]
  }

  public struct JoinTable: Codable, Hashable, Sendable {
    public var table: String
    /// Nil if they can't be counted.
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
    /// 0 if there is none.
    public var bytes: Int
    /// Whether a model can be created from it.
    public var isReadable: Bool
  }

  public struct Other: Codable, Hashable, Sendable {
    /// `table`, `index`, `view` or `trigger`.
    public var type: String
    public var name: String
    public var table: String
    /// Its purpose, if its name indicates one.
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
    /// A stable identifier, such as `hashMismatch`.
    public var code: String
    public var message: String
  }
}
