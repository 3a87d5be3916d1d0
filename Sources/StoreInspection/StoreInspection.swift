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
  /// The path as given, or the address of a server without its password.
  public var store: String
  /// The database file and the files next to it; nil for a store of a server.
  public var file: File?
  /// The server of the store; nil for a store in a file.
  public var server: Server?
  /// The contents of Z_METADATA.
  public var metadata: Metadata
  /// The model that describes the store; nil if none was found.
  public var model: Model?
  /// By number; entities that only the model has come last.
  public var entities: [Entity]
  /// The tables of many-to-many relationships.
  public var joinTables: [JoinTable]
  /// The indexes of the tables of entities and relationships.
  public var indexes: [Index]
  /// Nil unless history is tracked.
  public var history: History?
  /// The copy of the model that the store has in Z_MODELCACHE.
  public var modelCache: ModelCache
  /// Tables, views and triggers that do not belong to Core Data's layout.
  public var others: [Other]
  /// Nil if there is no folder for large values.
  public var externalData: ExternalData?
  /// What is unusual about the store or could not be read.
  public var remarks: [Remark]

  /// The database file and the files next to it.
  public struct File: Codable, Hashable, Sendable {
    /// The size of the database file in bytes.
    public var bytes: Int
    /// The size of a page of the database in bytes.
    public var pageSizeBytes: Int
    /// The number of pages in the database.
    public var pages: Int
    /// Unused pages, which a vacuum releases.
    public var freePages: Int
    /// `wal` or `delete`.
    public var journalMode: String
    /// The encoding of the database's texts, such as `UTF-8`.
    public var encoding: String
    /// `none`, `full` or `incremental`.
    public var autoVacuum: String
    /// The WAL; nil if there is no `-wal`.
    public var wal: WAL?
    /// The index of the WAL; nil if there is no `-shm`.
    public var sharedMemory: SharedMemory?

    private enum CodingKeys: String, CodingKey {
      case bytes, pageSizeBytes, pages, freePages, journalMode, encoding, autoVacuum
      case wal = "log"
      case sharedMemory
    }
  }

  /// The server of a store in PostgreSQL.
  public struct Server: Codable, Hashable, Sendable {
    /// The server's version, such as `15.4`.
    public var version: String
    /// The name of the database.
    public var database: String
    /// The encoding of the database's texts, such as `UTF8`.
    public var encoding: String
    /// The size of the store's tables with their indexes in bytes.
    public var bytes: Int
  }

  /// The `-wal`.
  public struct WAL: Codable, Hashable, Sendable {
    /// The size of the file in bytes.
    public var bytes: Int
    /// Pages up to the end of the last transaction. An unfinished transaction or older pages may follow them.
    public var frames: Int
    /// `empty`, `valid`, `damaged` if transactions are lost, or `foreign` for a file that is not the WAL of a database
    /// with this page size.
    public var state: String
  }

  /// The `-shm`.
  public struct SharedMemory: Codable, Hashable, Sendable {
    /// The size of the file in bytes.
    public var bytes: Int
    /// `valid`, `stale` if it refers to another WAL, or `empty`. SQLite creates it again if necessary.
    public var state: String
  }

  /// The contents of Z_METADATA.
  public struct Metadata: Codable, Hashable, Sendable {
    /// The UUID of the store.
    public var uuid: String?
    /// The type of the store, such as `SQLite`.
    public var storeType: String?
    /// NSPersistenceFrameworkVersion.
    public var frameworkVersion: Int?
    /// The identifiers of the model version that the store was made with.
    public var versionIdentifiers: [String]
    /// The version of the algorithm of the version hashes.
    public var hashesVersion: Int?
    /// A digest of all version hashes.
    public var hashesDigest: String?
    /// The checksum of the model version (`NSManagedObjectModel.versionChecksum`).
    public var checksum: String?
    /// The clients' keys and their values, as text.
    public var ownKeys: [String: String]
  }

  /// The model that describes the store, and where it was found.
  public struct Model: Codable, Hashable, Sendable {
    /// `file`, `embedded`, `cache` or `tables`.
    public var origin: String
    /// The name of the version or embedded model; nil for the other origins.
    public var name: String?
    /// Whether every version hash equals the store's; nil if the model was derived from the tables.
    public var isCompatible: Bool?
    /// Unknown or omitted parts.
    public var notes: [String]

    private enum CodingKeys: String, CodingKey {
      case origin, name
      case isCompatible = "fits"
      case notes
    }
  }

  /// An entity of the store or of the model.
  public struct Entity: Codable, Hashable, Sendable {
    /// The name of the entity.
    public var name: String
    /// The name in Z_PRIMARYKEY if it differs: a migration that renames the entity leaves it unchanged.
    public var storedName: String?
    /// Z_ENT; nil if the store does not have the entity.
    public var number: Int?
    /// The name of the entity that it inherits from; nil if there is none.
    public var superentity: String?
    /// Whether the entity is abstract; nil if no model says so.
    public var isAbstract: Bool?
    /// The table of its rows; nil if there is none.
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
    /// Own and inherited ones, by name.
    public var relationships: [Relationship]
    /// The names of the attributes of each.
    public var uniquenessConstraints: [[String]]
  }

  /// An attribute of an entity.
  public struct Attribute: Codable, Hashable, Sendable {
    /// The name of the attribute.
    public var name: String
    /// The type in the model editor's words, such as `Integer 16`; for a store without a model the column's type.
    public var type: String
    /// Whether a row may have no value for it.
    public var isOptional: Bool
    /// Nil for a transient attribute.
    public var column: String?
  }

  /// A relationship of an entity.
  public struct Relationship: Codable, Hashable, Sendable {
    /// The name of the relationship.
    public var name: String
    /// The name of the entity that it leads to.
    public var destination: String
    /// The name of the inverse relationship; nil if there is none.
    public var inverse: String?
    /// Whether it leads to any number of objects.
    public var isToMany: Bool
    /// Whether its objects have an order.
    public var isOrdered: Bool
    /// Whether it may lead to no object.
    public var isOptional: Bool
    /// Where it is stored: the table and column of the key, or the join table and its two columns.
    public var table: String?
    /// The columns that it is stored in.
    public var columns: [String]
  }

  /// The table of a many-to-many relationship.
  public struct JoinTable: Codable, Hashable, Sendable {
    /// The name of the table.
    public var table: String
    /// Nil if they can't be counted.
    public var rows: Int?
  }

  /// An index of the database.
  public struct Index: Codable, Hashable, Sendable {
    /// The name of the index.
    public var name: String
    /// The table that it is of.
    public var table: String
    /// Its columns, in order.
    public var columns: [String]
    /// Whether it permits only one row with the same values.
    public var isUnique: Bool
  }

  /// The tables of persistent history.
  public struct History: Codable, Hashable, Sendable {
    /// The number of transactions.
    public var transactions: Int
    /// The number of changes in them.
    public var changes: Int
  }

  /// The copy of the model in Z_MODELCACHE.
  public struct ModelCache: Codable, Hashable, Sendable {
    /// 0 if there is none.
    public var bytes: Int
    /// Whether a model can be created from it.
    public var isReadable: Bool
  }

  /// A table, index, view or trigger that is not part of Core Data's layout.
  public struct Other: Codable, Hashable, Sendable {
    /// `table`, `index`, `view` or `trigger`.
    public var type: String
    /// Its name.
    public var name: String
    /// The table that it concerns.
    public var table: String
    /// Its purpose, if its name indicates one.
    public var purpose: String?
    /// Functions in a trigger's text that SQLite does not have.
    public var unknownFunctions: [String]
  }

  /// The folder for large values.
  public struct ExternalData: Codable, Hashable, Sendable {
    /// The path of the folder.
    public var folder: String
    /// The number of files in it.
    public var files: Int
    /// The sum of their sizes in bytes.
    public var bytes: Int
  }

  /// Something unusual about the store.
  public struct Remark: Codable, Hashable, Sendable {
    /// A stable identifier, such as `hashMismatch`.
    public var code: String
    /// What is unusual, as a sentence.
    public var message: String
  }
}
