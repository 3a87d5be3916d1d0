import CSV

/// Decides while an input is read in which order its dates have day and month.
///
/// As long as every date is in ISO 8601 nothing has to be decided, and the input is read once. At the first other date
/// the whole input is read for its dates, if it can be read twice; otherwise its first such chunk decides, and later
/// ones must not contradict it.
struct DateDecision {
  private let input: InputOpener
  private let opener: RecordOpener
  /// Nil if no date is ambiguous, or the whole input has been read for them.
  private var survey: InputSurvey?
  private var isDecided = false

  init(_ survey: InputSurvey?, _ opener: RecordOpener, input: InputOpener) {
    (self.survey, self.opener, self.input) = (survey, opener, input)
  }

  /// Whether there is anything to decide.
  var isNeeded: Bool { survey != nil }

  /// What the dates of a block decide for it and for those that follow; nil if they are read as before.
  mutating func decide(_ block: RecordBlock) throws(CSVError) -> InputSurvey.Result? {
    guard survey?.hasDoubt(block) == true else { return nil }
    guard !input.isReadTwice else {
      try readAll()
      defer { survey = nil }
      return survey?.result
    }
    survey?.add(block)
    guard var result = survey?.result else { return nil }
    if !isDecided {
      isDecided = true
      return result
    }
    // A chosen order stays: a contradiction is a refusal.
    guard result.refusal != nil else { return nil }
    for index in result.issues.indices where result.issues[index].severity == .error {
      result.issues[index].message += ". The chunks before were read in the order that the first one showed"
    }
    return result
  }

  /// Reads the whole input for its dates. What can't be read of it is reported when it is read again.
  private mutating func readAll() throws(CSVError) {
    let reader = try opener.open(try input.completeSource())
    var block = RecordBlock()
    while (try? reader.next(into: &block, recordsMax: opener.definition.chunkRows)) == true { survey?.add(block) }
  }
}
