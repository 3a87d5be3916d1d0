/// How a run went, in words that every report format uses.
struct RunVerdict: Sendable, Equatable {
  /// The severity of the result; a page has a colour for each.
  enum Tone: String, Sendable, Codable {
    case clean, warnings, errors, stopped, cancelled, failed
  }

  let tone: Tone
  /// After the run's name in a line: `done, 2 errors`.
  let phrase: String
  /// On its own: `Done, 2 errors`.
  let headline: String
}

extension RunSummary {
  /// `log: dry run`
  var subject: String { "\(pipeline): \(action)" }

  /// What the run did, in words.
  var action: String { kind == .validate ? "dry run" : kind.rawValue }

  var verdict: RunVerdict {
    func verdict(_ tone: RunVerdict.Tone, _ phrase: String, headline: String? = nil) -> RunVerdict {
      RunVerdict(tone: tone, phrase: phrase, headline: headline ?? phrase.prefix(1).uppercased() + phrase.dropFirst())
    }
    switch outcome {
    case .failed: return verdict(.failed, "FAILED: \(failure?.message ?? "without a reason given")", headline: "Failed")
    case .cancelled:
      return verdict(
        .cancelled,
        "cancelled; \(stopReason.map { "\($0); " } ?? "")\(kind == .export ? "no output is left" : "what was saved before stays")",
        headline: "Cancelled")
    case .stopped:
      return verdict(
        .stopped, "STOPPED: \(stopReason ?? "as the pipeline's error policy says")", headline: "Stopped")
    case .completed:
      if isNothingNew {
        return verdict(
          .clean, "has nothing to do: already imported", headline: "Nothing to do: already imported")
      }
      if issues.errors > 0 { return verdict(.errors, "done, \(TextTable.count(issues.errors, "error"))") }
      if issues.warnings > 0 { return verdict(.warnings, "clean, \(TextTable.count(issues.warnings, "warning"))") }
      return verdict(.clean, "clean")
    }
  }
}
