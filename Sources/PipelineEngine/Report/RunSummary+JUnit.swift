import Foundation

extension RunSummary {
  /// The report as JUnit-style XML: one suite for the run; a case for the run itself, one for each input and one for
  /// each code that occurred.
  ///
  /// A case fails for errors; warnings alone are output of a case that passes. If not all issues are listed, an input
  /// may have errors that are unknown; its case is then skipped.
  public func junit() -> String {
    let cases = [runCase] + inputs.map(inputCase) + issues.counts.keys.sorted().map(codeCase)
    let seconds = Self.seconds(seconds)
    let totals: Markup = """
      tests="\(cases.count)" failures="\(cases.count { $0.state == .failed })" \
      errors="\(cases.count { $0.state == .broken })" skipped="\(cases.count { $0.state == .skipped })" \
      time="\(seconds)"
      """
    let document: Markup = """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="\(pipeline)" \(totals)>
        <testsuite name="\(subject)" \(totals) timestamp="\(startedAt.ISO8601Format())">
          <properties>
      \(properties.map { "      <property name=\"\($0)\" value=\"\($1)\"/>\n" })    </properties>
      \(cases.map(\.markup))  </testsuite>
      </testsuites>

      """
    return document.text
  }

  private struct TestCase {
    enum State { case passed, failed, broken, skipped }
    let state: State
    let markup: Markup

    init(_ group: String, _ name: String, seconds: String = "0", state: State, content: [Markup]) {
      self.state = state
      let lines = content.map { "      \($0)\n" as Markup }
      markup = """
            <testcase classname="\(group)" name="\(name)" time="\(seconds)">
        \(lines)    </testcase>

        """
    }
  }

  private var properties: [(String, String)] {
    [
      ("read", String(counts.read)), ("inserted", String(counts.inserted)), ("updated", String(counts.updated)),
      ("unchanged", String(counts.unchanged)), ("duplicate", String(counts.duplicate)),
      ("repeated", String(counts.repeated)), ("rejected", String(counts.rejected)), ("exported", String(exported)),
      ("errors", String(issues.errors)),
      ("warnings", String(issues.warnings)), ("exitCode", String(exitCode.rawValue)),
    ]
  }

  private var runCase: TestCase {
    let seconds = Self.seconds(seconds)
    switch outcome {
    case .completed:
      return TestCase(
        pipeline, action, seconds: seconds, state: .passed, content: ["<system-out>\(verdict.phrase)</system-out>"])
    case .failed:
      let code = failure?.code?.rawValue ?? "failure"
      return TestCase(
        pipeline, action, seconds: seconds, state: .broken,
        content: ["<error type=\"\(code)\" message=\"\(verdict.phrase)\"/>"])
    case .stopped, .cancelled:
      return TestCase(
        pipeline, action, seconds: seconds, state: .failed,
        content: ["<failure type=\"\(outcome.rawValue)\" message=\"\(verdict.phrase)\"/>"])
    }
  }

  private func inputCase(_ file: File) -> TestCase {
    let group = "\(pipeline).input"
    let listed = issues.listed.count { $0.input == file.path && $0.severity == .error }
    let size: Markup = "<system-out>\(TextTable.count(file.records, "record"))\(stateText(file))</system-out>"
    // With one input, every error is that input's.
    let errors = inputs.count == 1 ? issues.errors : listed
    if errors > 0 {
      let more = inputs.count > 1 && issues.isTruncated ? " or more; not all are listed" : ""
      let message = "\(TextTable.count(errors, "error"))\(more)"
      let failure: Markup = "<failure type=\"errors\" message=\"\(message)\"/>"
      return TestCase(group, file.path, state: .failed, content: [failure, size])
    }
    if issues.listed.count(where: { $0.severity == .error }) < issues.errors {
      let message = "not all issues are listed, so it is unknown whether this input has errors"
      let skipped: Markup = "<skipped message=\"\(message)\"/>"
      return TestCase(group, file.path, state: .skipped, content: [skipped, size])
    }
    return TestCase(group, file.path, state: .passed, content: [size])
  }

  private func codeCase(_ code: IssueCode) -> TestCase {
    let total = issues.counts[code] ?? 0
    let warnings = issues.warningCounts[code] ?? 0
    var content: [Markup] = []
    if total > warnings {
      let message = TextTable.count(total - warnings, "error")
      let text = listing(code, severity: .error, total: total - warnings)
      content.append("<failure type=\"\(code.rawValue)\" message=\"\(message)\">\(text)</failure>")
    }
    if warnings > 0 { content.append("<system-out>\(listing(code, severity: .warning, total: warnings))</system-out>") }
    let state = total > warnings ? TestCase.State.failed : .passed
    return TestCase("\(pipeline).code", code.rawValue, state: state, content: content)
  }

  /// The listed issues, one per line, and how many are not listed.
  private func listing(_ code: IssueCode, severity: Severity, total: Int) -> String {
    var lines = issues.listed.filter { $0.code == code && $0.severity == severity }.map(\.description)
    let hidden = total - lines.count
    if hidden > 0 { lines.append("… and \(TextTable.grouped(hidden)) more that the report does not list") }
    return lines.joined(separator: "\n")
  }

  private static func seconds(_ seconds: Double) -> String { String(format: "%.3f", seconds) }
}
