/// A promise about speed or memory, as a ratio where that is possible: seconds say more of the machine than of us.
struct Floor: Sendable {
  enum Bound: Sendable {
    case atLeast(Double)
    case atMost(Double)
  }

  /// What became of a floor.
  struct Verdict {
    let floor: Floor
    let value: Series?

    var isKept: Bool {
      switch (value?.median, floor.bound) {
      case (nil, _): false
      case (let value?, .atLeast(let least)): value >= least
      case (let value?, .atMost(let most)): value <= most
      }
    }

    /// Whether a check lets it be: what is known to be out of reach must only not get worse.
    var passes: Bool { isKept || value != nil && floor.obstacle != nil }
  }

  let group: Group
  let claim: String
  let bound: Bound
  /// Whether it is left out, instead of broken, when it was not measured: for programs that may not be there.
  let isOptional: Bool
  /// What keeps it out of reach, as far as is known; it is shown as missed nevertheless.
  let obstacle: String?
  /// Nil when what it takes was not measured.
  let value: @Sendable (Results) -> Series?

  private init(
    _ group: Group, _ claim: String, bound: Bound, isOptional: Bool = false, obstacle: String? = nil,
    value: @escaping @Sendable (Results) -> Series?
  ) {
    self.group = group
    self.claim = claim
    self.bound = bound
    self.isOptional = isOptional
    self.obstacle = obstacle
    self.value = value
  }

  static let all =
    imports + [
      Floor(.validate, "dry run, speed against our C parser's", bound: .atLeast(0.4)) {
        $0.speed(of: .validate, against: .limitCheck)
      },
      Floor(.validate, "dry run, speed against the yardstick's parser", bound: .atLeast(0.6), isOptional: true) {
        $0.speed(of: .validate, against: .yardstickCheck)
      },
      Floor(.export, "export, speed against the C cursor's", bound: .atLeast(0.8)) {
        $0.speed(of: .export, against: .limitExport)
      },
      Floor(.export, "export, speed against sqlite3 -csv", bound: .atLeast(2), isOptional: true) {
        $0.speed(of: .export, against: .shellExport)
      },
      Floor(.export, "gzip export, time over gzip -6 alone", bound: .atMost(1), isOptional: true) {
        $0.time(of: .exportGzip, over: .gzipAlone)
      },
      Floor(.export, "gzip export, time over the plain one's", bound: .atMost(1.6)) {
        $0.time(of: .exportGzip, over: .export)
      },
      Floor(.export, "our C cursor's speed against the yardstick's", bound: .atLeast(0.95), isOptional: true) {
        $0.speed(of: .limitExport, against: .yardstickExport)
      },
      Floor(.sorted, "sorted export, time over the sorting C cursor's", bound: .atMost(1.3)) {
        $0.time(of: .exportByDate, over: .limitExportByDate)
      },
      Floor(.sorted, "sorted export, peak memory in MB", bound: .atMost(64)) { $0.peakMegabytes(.exportByDate) },
      Floor(.stream, "streaming fetch, speed against the C cursor's stepping", bound: .atLeast(0.25)) {
        $0.speed(of: .walkObjects, against: .limitStep)
      },
      Floor(.stream, "streaming fetch, peak memory in MB", bound: .atMost(64)) { $0.peakMegabytes(.walkObjects) },
    ] + graph + servers + [
      Floor(
        .start, "--version, cold, milliseconds beyond a C program's", bound: .atMost(10),
        obstacle: "a file with Foundation in it takes some 25 before its first line is run"
      ) {
        $0.milliseconds(of: .versionCold, beyond: .limitVersionCold)
      },
      Floor(.start, "import of 100 records, milliseconds", bound: .atMost(40)) { $0.milliseconds(of: .importSmall) },
      Floor(.long, "import of ten times the records, speed against that of one time", bound: .atLeast(0.95)) {
        $0.speed(of: .importLong, against: .importPlain)
      },
      Floor(.long, "import of ten times the records, peak memory over that of one time", bound: .atMost(1.1)) {
        $0.peak(of: .importLong, over: .importPlain)
      },
      Floor(.long, "sorted export of ten times the records, peak memory over that of one time", bound: .atMost(1.1)) {
        $0.peak(of: .exportByDateLong, over: .exportByDate)
      },
    ]

  private static let graph = [
    Floor(.objects, "objects inserted one by one, speed against C's", bound: .atLeast(0.35)) {
      $0.speed(of: .insertBooks, against: .limitInsertBooks)
    },
    Floor(
      .objects, "linked objects inserted one by one, 200 to an owner, time over unlinked ones", bound: .atMost(1.3)
    ) {
      $0.time(of: .insertBooksOfProlificAuthors, over: .insertBooks)
    },
    Floor(
      .objects, "linked objects inserted one by one, ten to an owner, time over unlinked ones", bound: .atMost(1.3),
      obstacle: "of what 0.3 of the time leaves, SQLite's keys and index and the fetch of the owners take two thirds, "
        + "and each context of the chain changes the owners"
    ) {
      $0.time(of: .insertLinkedBooks, over: .insertBooks)
    },
    Floor(
      .library, "walk over related objects, speed against the C join's", bound: .atLeast(0.25),
      obstacle: "it is close to the floor: of 11,200 instructions for a book SQLite takes 4,400, and its object, "
        + "texts, date and place in a set the rest; the C join takes 3,000 in all"
    ) {
      $0.speed(of: .walkLibrary, against: .limitWalkLibrary)
    },
    Floor(.subquery, "SUBQUERY, speed against SQL in the sqlite3 shell", bound: .atLeast(0.5)) {
      $0.speed(of: .subquery, against: .shellSubquery)
    },
    Floor(.migration, "migration by a policy, speed against insertion one by one", bound: .atLeast(0.5)) {
      $0.speed(of: .migrateByPolicy, against: .insertLinkedBooks)
    },
    Floor(.history, "import with a history, time over that without", bound: .atMost(1.5)) {
      $0.time(of: .importTracked, over: .importPlain)
    },
    Floor(.cascade, "cascade, time over two DELETE statements and reading", bound: .atMost(2)) {
      $0.time(of: .deleteAuthors, over: .limitDeleteAuthors)
    },
    Floor(.cascade, "cascade, peak memory in MB", bound: .atMost(64)) { $0.peakMegabytes(.deleteAuthors) },
  ]

  private static let servers = [
    Floor(.server, "import into a server, speed against the C program's", bound: .atLeast(0.6)) {
      $0.speed(of: .importServer, against: .limitServerImport)
    },
    Floor(
      .server, "import into a server, 50,000 rows in a transaction, speed against the C program's", bound: .atLeast(0.6)
    ) {
      $0.speed(of: .importServerLarge, against: .limitServerImportLarge)
    },
    Floor(
      .server, "import into a server, speed against psql's of unchecked texts", bound: .atLeast(1),
      obstacle: "the index of the keys, which psql's table does not have, is 40 % of the server's work"
    ) {
      $0.speed(of: .importServer, against: .shellServerImport)
    },
    Floor(
      .server, "import into a server, microseconds of the client's processor for a row", bound: .atMost(0.35),
      obstacle: "it was 0.27 to 0.48 on one day, on which the C program took 0.11 to 0.31: the system's part differs"
    ) {
      $0.processorMicroseconds(ofRowsOf: .importServer)
    },
    Floor(.server, "import into a server, peak memory in MB", bound: .atMost(64)) { $0.peakMegabytes(.importServer) },
    Floor(.server, "objects of a server, speed against the C program's cursor", bound: .atLeast(0.25)) {
      $0.speed(of: .walkServerObjects, against: .limitServerStep)
    },
    Floor(.server, "packed batches of a server, speed against the C program's cursor", bound: .atLeast(0.7)) {
      $0.speed(of: .walkServerBatches, against: .limitServerStep)
    },
    Floor(.server, "export from a server, speed against COPY with ISO dates", bound: .atLeast(0.8)) {
      $0.speed(of: .exportServer, against: .shellServerExport)
    },
  ]

  private static let imports = [
    Floor(.import, "import, speed against the limit's", bound: .atLeast(0.75)) {
      $0.speed(of: .importPlain, against: .limitImport)
    },
    Floor(.import, "import with object sets in every didSave, speed against the limit's", bound: .atLeast(0.35)) {
      $0.speed(of: .importObjectSets, against: .limitImport)
    },
    Floor(.import, "import, speed against sqlite3 .import", bound: .atLeast(2), isOptional: true) {
      $0.speed(of: .importPlain, against: .shellImport)
    },
    Floor(.import, "import through one context, speed against the limit's", bound: .atLeast(0.8)) {
      $0.speed(of: .importOneContext, against: .limitImport)
    },
    Floor(.import, "import, time of three contexts over that of one", bound: .atMost(1.1)) {
      $0.time(of: .importPlain, over: .importOneContext)
    },
    Floor(.import, "gzip import, time over the plain one's", bound: .atMost(1.1)) {
      $0.time(of: .importGzip, over: .importPlain)
    },
    Floor(.import, "import, peak memory in MB", bound: .atMost(64)) { $0.peakMegabytes(.importPlain) },
    Floor(.import, "gzip import, peak memory in MB", bound: .atMost(64)) { $0.peakMegabytes(.importGzip) },
    Floor(.import, "our C limit's speed against the yardstick's", bound: .atLeast(0.95), isOptional: true) {
      $0.speed(of: .limitImport, against: .yardstickImport)
    },
    Floor(.core, "import on one core, time over the C loader's", bound: .atMost(1.3)) {
      $0.time(of: .importOneCore, over: .limitImportOneThread)
    },
    Floor(.keyed, "import with a key, skip, empty store, time over that without", bound: .atMost(2.5)) {
      $0.time(of: .keyedSkip, over: .importPlain)
    },
    Floor(.keyed, "import with a key, update, empty store, time over that without", bound: .atMost(2.5)) {
      $0.time(of: .keyedUpdate, over: .importPlain)
    },
    Floor(.keyed, "import with a key, skip, store of as many, time over that without", bound: .atMost(4)) {
      $0.time(of: .keyedSkipFull, over: .importPlain)
    },
    Floor(.keyed, "import with a key, update, store of as many, time over that without", bound: .atMost(4)) {
      $0.time(of: .keyedUpdateFull, over: .importPlain)
    },
    Floor(.linked, "linked import, speed against the C loader's", bound: .atLeast(0.6)) {
      $0.speed(of: .importLinked, against: .limitLinked)
    },
    Floor(
      .linked, "linked import, time over the unlinked one's", bound: .atMost(1.4),
      obstacle: "SQLite takes half of the unlinked import's processor time to make the index of the keys, and counting "
        + "the versions of the spots a seventh of its instructions"
    ) {
      $0.time(of: .importLinked, over: .importUnlinked)
    },
    Floor(.linked, "linked import, peak memory in MB", bound: .atMost(64)) { $0.peakMegabytes(.importLinked) },
  ]
}

extension Results {
  /// The floors of all groups that were measured.
  var verdicts: [Floor.Verdict] {
    Floor.all.filter { groups.contains($0.group) }.compactMap { floor in
      let value = floor.value(self)
      return value == nil && floor.isOptional ? nil : Floor.Verdict(floor: floor, value: value)
    }
  }
}
