/// What happened to the records of a run.
public struct RunCounts: Sendable, Hashable, Codable {
  /// Records read.
  public var read = 0
  /// Records that became new entries.
  public var inserted = 0
  /// Records that changed an entry with their key.
  public var updated = 0
  /// Records whose entry in the store already had their values.
  public var unchanged = 0
  /// Records that the pipeline's policy for duplicates left out, because the store had an entry with their key.
  public var duplicate = 0
  /// Records that have the key of an earlier record of the same input; they were left out, or replaced its values.
  public var repeated = 0
  /// Records that were not imported because of an issue.
  public var rejected = 0

  /// Makes counts. The parameters are the properties of the same names.
  public init(
    read: Int = 0, inserted: Int = 0, updated: Int = 0, unchanged: Int = 0, duplicate: Int = 0, repeated: Int = 0,
    rejected: Int = 0
  ) {
    self.read = read
    self.inserted = inserted
    self.updated = updated
    self.unchanged = unchanged
    self.duplicate = duplicate
    self.repeated = repeated
    self.rejected = rejected
  }

  /// The conservation law: read = inserted + updated + unchanged + duplicate + repeated + rejected.
  public var isConserved: Bool { read == accountedFor }

  /// Throws a ``ConservationError`` when a record was lost or counted twice, which is a bug in this program.
  public func checkConservation() throws(ConservationError) {
    if !isConserved { throw ConservationError(counts: self) }
  }

  /// The sums of both sides.
  public static func + (left: RunCounts, right: RunCounts) -> RunCounts {
    RunCounts(
      read: left.read + right.read, inserted: left.inserted + right.inserted,
      updated: left.updated + right.updated, unchanged: left.unchanged + right.unchanged,
      duplicate: left.duplicate + right.duplicate, repeated: left.repeated + right.repeated,
      rejected: left.rejected + right.rejected)
  }

  fileprivate var accountedFor: Int { inserted + updated + unchanged + duplicate + repeated + rejected }
}

/// A run whose counts do not add up.
public struct ConservationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The counts of the run.
  public let counts: RunCounts

  /// The exit status of an error of the program itself.
  public var exitCode: ExitCode { .software }

  public var description: String {
    """
    \(counts.read) records were read but \(counts.accountedFor) are accounted for (\(counts.inserted) inserted, \
    \(counts.updated) updated, \(counts.unchanged) unchanged, \(counts.duplicate) duplicate, \(counts.repeated) \
    repeated, \(counts.rejected) rejected). This is a fault of the program: compare the store with the input, and report it with this line
    """
  }
}
