import Foundation

extension Contenders {
  /// The programs of the project, with what the plain input takes.
  func ours() throws -> [Contender] {
    let program = try folder.program("surfjournal")
    let small = folder.output("small.sqlite")
    return try imports(program) + exports(program) + walks() + [
      Contender(
        subject: .validate, groups: [.validate], command: [program, "validate", inputs.plain], rows: rows,
        check: { try Self.checkDryRun($0, rows: rows) }),
      starting(.version, [program, "--version"]),
      starting(
        .importSmall, [program, "import", inputs.small, "--store", small], outputs: [small],
        check: { _ in try Checks.table("ZJOURNALENTRY", of: small, has: Inputs.smallRows) }),
    ]
  }

  private func imports(_ program: String) throws -> [Contender] {
    let core = try Machine.onFirstCore
    return try [
      loading(.importPlain, .import, .keyed, .history, .long) { [program, "import", inputs.plain, "--store", $0] },
      loading(.importGzip) { [program, "import", inputs.gzip, "--store", $0] },
      loading(.importOneCore, .core) { core + [program, "import", inputs.plain, "--store", $0] },
      variant(.importOneContext, .oneContext),
      variant(.importObjectSets, .objectSets),
    ]
  }

  /// Starts from an empty store that tracks its history.
  func trackedImport() throws -> Contender {
    let (program, own) = (try folder.program("surfjournal"), try folder.program("benchmarks"))
    let path = folder.output("tracked.sqlite")
    return Contender(
      subject: .importTracked, groups: [.history], command: [program, "import", inputs.plain, "--store", path],
      outputs: [path], rows: rows, prepare: { try Tool.run([own, LibraryRun.makeTracked.rawValue, path]) },
      check: { _ in
        try checks.store(path)
        try Checks.table("ACHANGE", of: path, has: rows + 2)
      })
  }

  private func exports(_ program: String) throws -> [Contender] {
    let source = [program, "export", "--store", store] + Self.columns
    return [
      exporting(.export) { source + ["--output", $0] },
      exporting(.exportGzip, name: "ours.csv.gz", check: { try Checks.gzip($0, holds: inputs.plain) }) {
        source + ["--output", $0]
      },
      exporting(.exportByDate, .sorted, .long, check: { try Checks.sorted($0, from: inputs.plain) }) {
        source + ["--output", $0, "--sort", "date"]
      },
    ]
  }

  private func variant(_ subject: Subject, _ variant: ImportVariant) throws -> Contender {
    let program = try folder.program("benchmarks")
    // The command asks the allocator for the same, see its main.swift.
    let allocator = ["env", "MALLOC_MMAP_THRESHOLD_=\(64 << 20)", "MALLOC_TRIM_THRESHOLD_=\(64 << 20)"]
    return loading(subject) { allocator + [program, variant.rawValue, inputs.plain, $0] }
  }

  private func walks() throws -> [Contender] {
    let program = try folder.program("benchmarks")
    return [
      Contender(
        subject: .walkObjects, groups: [.stream], command: [program, StreamingFetch.objects.rawValue, store],
        rows: rows, check: { try Checks.text(of: $0, is: steppedText + "\n") }),
      Contender(
        subject: .walkBatches, groups: [.stream], command: [program, StreamingFetch.batches.rawValue, store],
        rows: rows, check: { try Checks.text(of: $0, is: "rows \(rows)\n") }),
    ]
  }

  private static func checkDryRun(_ printed: String, rows: Int) throws {
    let lines = try String(contentsOfFile: printed, encoding: .utf8).split(separator: "\n").map { line in
      line.split(separator: " ").joined(separator: " ").filter { $0 != "," }
    }
    guard lines.contains("read \(rows)"), lines.contains("would be inserted \(rows)") else {
      throw BenchmarkFailure("the dry run did not take \(rows) good records, but said: \(lines)")
    }
  }
}
