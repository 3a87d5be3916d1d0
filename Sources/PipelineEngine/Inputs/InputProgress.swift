import CSV

/// How far an input was read, and what was read: all that a later run needs to know it again and to go on.
struct InputProgress: Sendable, Equatable {
  /// Where the next record starts.
  var position = ReaderPosition.start
  /// Hash of all bytes before it.
  var hash = ContentDigest(high: 0, low: 0)
  /// The front of the input by which it is looked for: its length in bytes and its hash.
  var headBytes = 0
  var headHash = ContentDigest(high: 0, low: 0)
  /// Whether the last record has no line end, so that it may go on if the input grows.
  var endsOpen = false
  /// As stored: how much of the input was consumed.
  var consumedBytes = 0
}
