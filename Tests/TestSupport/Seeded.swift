import Testing

extension Trait where Self == IssueHandlingTrait {
  /// Adds the settings that repeat the run to every issue of a random test.
  package static var seeded: Self {
    .compactMapIssues { issue in
      let advice: Comment = "Repeat with \(Randomness.settings)"
      // The trait of a suite also handles the issues that the traits of its tests have handled.
      guard !issue.comments.contains(advice) else { return issue }
      var issue = issue
      issue.comments.append(advice)
      return issue
    }
  }
}
