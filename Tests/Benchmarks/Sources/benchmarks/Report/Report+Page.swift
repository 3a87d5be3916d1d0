extension Report {
  var page: String {
    let tables = results.groups.map { group in
      let parts = ["### \(group.title)", group.note, table(of: group, head: "what").markdown]
      return parts.compactMap(\.self).joined(separator: "\n\n")
    }
    return """
      # Benchmark figures

      The speed of imports, dry runs and exports, compared with the limits of the machine and with other programs.

      ## Overview

      This page is written by `make bench-docs`. Measured on \(Self.today):

      \(machine.lines.map { "- \($0)" }.joined(separator: "\n"))

      The log has \(Self.grouped(results.rows)) records. The programs took turns, and there were \(results.rounds)
      rounds (one for sqlite-utils, two for ten times the records, three for imports with a key, which take so much
      longer). Whole processes are timed, start-up included; seconds and ratios are medians over the rounds, peak
      memory is the maximum. In the tables, *of the limit* is the speed as a share of the limit's, and *× ours* the time
      as a multiple of that of the project's program; both are computed round by round.
      Before each run \(Bench.megabytesTouched) MB of memory
      were touched and freed: a virtual machine may have to get pages that it has not used for a while from its
      host, one by one, which would make runs slower by chance.

      The limit is a C program in `Tests/Benchmarks` that parses on a second thread, passes rows to SQLite through a
      virtual table and checkpoints on a third. It checks dates, ratings and UTF-8 as we do, but has no contexts,
      positions, report or rejects, and its exports do not wait for the disk. It and the project's program use the
      SQLite named above. The project's program is linked as `make program` links it.

      After each run an independent program checked what was written. Stores have the same content as the limit's,
      whose export equals the input byte for byte; so do exports by key, also uncompressed. An export by date has the
      input's size and is in order. The expected result of an import with a key or with links was computed by a
      query. A walk over everything read the same sums as the C cursor. For other programs' tables and texts the rows
      were counted.

      \(tables.joined(separator: "\n\n"))

      ### Floors

      \(verdicts.map { "- \($0)" }.joined(separator: "\n"))

      """
  }
}
