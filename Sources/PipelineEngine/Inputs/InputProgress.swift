import CSV

/// How far an input was read, and what was read: all that a later run needs to recognise it and to continue.
struct InputProgress: Sendable, Equatable {
  /// Where the next record starts.
  var position = ReaderPosition.start
  /// Hash of all bytes before it.
  var hash = ContentDigest(high: 0, low: 0)
  /// The head of the input by which it is recognised: its length in bytes and its hash.
  var headBytes = 0
  var headHash = ContentDigest(high: 0, low: 0)
  /// Whether the last record has no line end, so that it may continue if the input grows.
  var endsOpen = false
  /// How much of the input, as stored, was consumed.
  var consumedBytes = 0
}
