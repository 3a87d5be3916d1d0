import PersistentStores

/// What the store knows of a key while a plan is open.
///
/// The place of a record among all of its plan is its order: the number of the input, and that of the record. So it does
/// not matter which worker comes first:
/// - The entry has the values that an update sets from the last record, or from the newest one.
/// - It has all other values from the first record, or from the store, if that had it before the plan.
struct SharedKey: Sendable, Equatable {
  /// What a record counts as that has the key first.
  enum Outcome: Int64, CaseIterable {
    case inserted, updated, unchanged, duplicate
  }

  /// The entry as the store had it before the plan.
  struct Stored: Sendable, Equatable {
    /// Digest of the values that an update compares.
    var values: UInt64
    /// The value that decides which of two is newer.
    var newest: Double
  }

  /// The primary key of the entry.
  var storeKey: Int64
  /// Counts the changes of the row; 0 before there is one.
  var version: Int64 = 0
  /// The lowest order of a record with the key; the greatest number before there is one.
  var first = Int64.max
  /// The order of the record whose values an update has set last; 0 for those of the store.
  var last: Int64 = 0
  /// The value of that record which decides which of two is newer.
  var newest: Double = 0
  /// Digest of the values that an update compares, as the entry has them.
  var values: UInt64 = 0
  /// What the first record counts as.
  var outcome = Outcome.inserted
  /// The inputs that have a record with the key.
  var inputs = InputSet()
  /// What the entry leads to over the relationships that an update sets, by the record whose values it has.
  var updatedLinks = LinkTally()
  /// What it leads to over the others, by the first record; empty for an entry that the store had.
  var firstLinks = LinkTally()
  /// Nil for an entry that the plan has inserted.
  var stored: Stored?

  /// The number of bits for the number of a record.
  private static let recordBits: Int64 = 40
  /// The greatest number of an input whose records have an order.
  static let inputMax: Int64 = 1 << 22

  /// The order of a record among all records of its plan.
  static func order(input: Int64, record: Int) -> Int64 { input << recordBits | Int64(record) }

  /// The expression for the number of the input that an order is in.
  static func input(ofOrder column: String) -> String { "\(column) >> \(recordBits)" }
}

/// A set of the inputs of a plan, by their numbers in it, from 0.
struct InputSet: Sendable, Equatable {
  private var first: UInt64 = 0
  /// The bits of inputs above the 64th.
  private var rest: [UInt64] = []

  /// - Returns: Whether it was not there.
  mutating func insert(_ number: Int) -> Bool {
    let (word, bit) = (number / 64, UInt64(1) << UInt64(number % 64))
    if word == 0 {
      defer { first |= bit }
      return first & bit == 0
    }
    while rest.count < word { rest.append(0) }
    defer { rest[word - 1] |= bit }
    return rest[word - 1] & bit == 0
  }

  /// As hexadecimal numbers.
  var text: String { ([first] + rest).map { String($0, radix: 16) }.joined(separator: ".") }

  init() {}

  init(text: String) {
    let words = text.split(separator: ".").map { UInt64($0, radix: 16) ?? 0 }
    (first, rest) = (words.first ?? 0, Array(words.dropFirst()))
  }
}

/// What a chunk of a shard changes of the keys of its plan. Its save writes it, if the keys are as they were read.
struct KeyClaims: Sendable {
  /// A key with what becomes of it.
  struct Claim: Sendable {
    var digest: KeyDigest
    /// The values of a new key.
    var keyValues: ArraySlice<UInt8> = []
    /// The number of a new entry among those that the chunk inserts.
    var row = 0
    var key: SharedKey
  }

  let tables: SharedKeyTables
  /// The order of the first record of the chunk.
  let chunk: Int64
  /// Those that change, and those that are new, which have the version 0.
  var claims: [Claim] = []
  /// The number of new entries without a key.
  var keylessCount = 0
  /// What these lead to.
  var keylessLinks = LinkTally()

  /// Takes the keys at the beginning of a save, before anything is written in vain. Other workers that want one of them
  /// wait until the save has ended. All take them in the same order, so that two never wait for each other.
  ///
  /// - Throws: `OutdatedKeys` where another worker has changed one since it was read, or has inserted it.
  func take(in transaction: SaveTransaction) throws {
    if claims.isEmpty { return }
    let statement = tables.take(claims, chunk: chunk)
    guard try transaction.change(statement.sql, statement.values) == claims.count else { throw OutdatedKeys() }
  }

  /// Notes which primary keys the new entries have.
  ///
  /// - Parameters:
  ///   - keys: Those that the save has given.
  ///   - count: How many entries the chunk inserts.
  func note(_ keys: [ClosedRange<Int64>], count: Int, in transaction: SaveTransaction) throws {
    guard count > 0 else { return }
    guard keys.count == 1, let range = keys.first, range.count == count else {
      throw RunFailure(
        code: nil, exitCode: .configuration,
        message:
          "the class of the entity inserts objects of its own when entries are saved, so workers can't tell which "
          + "entry has which key; end the plan with 'report --abandon', and import the files with 'import'")
    }
    let chunk = tables.record(self, firstKey: range.lowerBound)
    try transaction.run(chunk.sql, chunk.values)
  }
}

/// A save that relies on keys as they were before another worker has changed them: nothing of it is saved, and the chunk
/// is planned again.
struct OutdatedKeys: Error {}
