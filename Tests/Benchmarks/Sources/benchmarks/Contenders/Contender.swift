/// A program with what it needs to be timed again and again.
struct Contender {
  let subject: Subject
  /// Where it stands in the table; it is timed once a round nevertheless.
  let groups: [Group]
  let command: [String]
  /// What it writes; removed before each run.
  var outputs: [String] = []
  /// Records that it handles; nil where a speed would say nothing.
  var rows: Int?
  /// Slow ones take part in few rounds, and not in the one that warms up.
  var roundsMax = Int.max
  /// What is too short to be timed once is timed so often in a round, and the median counts.
  var runsPerRound = 1
  /// What has to be there before each run, and is not timed.
  var prepare: () throws -> Void = {}
  /// Throws if the run did not do what was asked for. It gets the path of what was printed.
  var check: (_ printed: String) throws -> Void
}
