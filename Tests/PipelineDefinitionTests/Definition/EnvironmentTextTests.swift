import Foundation
import Testing

@testable import PipelineDefinition

/// Variables in a definition's texts, and dollar signs that are none.
@Suite struct EnvironmentTextTests {
  static let environment = ["HOST": "oahu", "EMPTY": "", "TRICK": "${HOST}", "_a1": "x"]

  static let texts: [(text: String, result: String)] = [
    ("", ""), ("plain", "plain"), ("${HOST}", "oahu"), ("in/${HOST}.csv", "in/oahu.csv"),
    ("${HOST}${_a1}", "oahux"), ("${EMPTY}", ""),
    // Defaults: for what is not set, and for what is empty.
    ("${NONE:-d}", "d"), ("${EMPTY:-d}", "d"), ("${HOST:-d}", "oahu"), ("${NONE:-}", ""),
    ("${NONE:-a:-b}", "a:-b"), ("${NONE:-{a,b}.csv}", "{a,b}.csv"), ("${NONE:-${HOST}/x}", "oahu/x"),
    ("${NONE:-${NONE:-${HOST}}}", "oahu"), ("${NONE:-Ü 🏄}", "Ü 🏄"),
    // Values are not looked into.
    ("${TRICK}", "${HOST}"),
    // Dollar signs of regular expressions and prices.
    (#"^\d+$"#, #"^\d+$"#), ("a$$b", "a$$b"), ("$", "$"), ("$$", "$$"), ("$HOST", "$HOST"), ("5$ {x}", "5$ {x}"),
    (#"(a|b$){2}"#, #"(a|b$){2}"#), ("{HOST}", "{HOST}"),
    // Before a brace two are one that means itself.
    ("$${HOST}", "${HOST}"), ("$$${HOST}", "$oahu"), ("$$$${HOST}", "$${HOST}"), ("$$$$${HOST}", "$$oahu"),
    ("$${", "${"), ("a$${b${HOST}", "a${boahu"),
  ]

  @Test(arguments: texts)
  func `Variables are replaced, and every other dollar sign stays`(text: String, result: String) {
    var substitution = EnvironmentText(Self.environment)
    #expect(substitution.substituted(text) == result)
    #expect(!substitution.notes.contains { if case .mistake = $0 { true } else { false } })
  }

  static let mistakes: [(text: String, message: String)] = [
    ("${NONE}", "the environment variable 'NONE' is not set; set it, or give a default: ${NONE:-…}"),
    ("${HOSTS}", "the environment variable 'HOSTS' is not set; set it, or give a default: ${HOSTS:-…}"),
    ("a ${HOST", "'${' is not closed by '}'; write ${NAME} or ${NAME:-default}"),
    ("${}", "'${}' names no variable; write ${NAME} or ${NAME:-default}"),
    ("${1A}", "'${1A}' names no variable"), ("${A B}", "'${A B}' names no variable"),
    ("${HOST:?}", "'${HOST:?}' names no variable"), ("${HOST-d}", "'${HOST-d}' names no variable"),
    ("${Ä:-d}", "'${Ä:-d}' names no variable"), ("${NONE:-${", "'${' is not closed by '}'"),
    ("${NONE:-${OTHER}}", "the environment variable 'OTHER' is not set"),
  ]

  @Test(arguments: mistakes)
  func `What can't be replaced is reported with what to write`(text: String, message: String) throws {
    var substitution = EnvironmentText(Self.environment)
    _ = substitution.substituted(text)
    let told = substitution.notes.compactMap { if case .mistake(let told) = $0 { told } else { nil } }
    #expect(told.count == 1)
    #expect(told.first?.hasPrefix(message) == true, "\(told)")
  }

  @Test func `A name that is nearly one that is set is hinted at`() {
    var substitution = EnvironmentText(Self.environment)
    _ = substitution.substituted("${HSOT}")
    #expect(
      substitution.notes == [
        .mistake(
          "the environment variable 'HSOT' is not set; set it, or give a default: ${HSOT:-…}; did you mean 'HOST'?")
      ])
  }

  @Test func `A default that counts is noted`() {
    var substitution = EnvironmentText(Self.environment)
    _ = substitution.substituted("${NONE:-a} ${HOST:-b} ${EMPTY:-c}")
    #expect(substitution.notes == [.defaulted("NONE"), .defaulted("EMPTY")])
  }

  @Test func `Hostile nesting is refused and not followed`() {
    var substitution = EnvironmentText([:])
    let depth = 100_000
    _ = substitution.substituted(String(repeating: "${A:-", count: depth) + String(repeating: "}", count: depth))
    #expect(substitution.notes.contains(.mistake("defaults within defaults, more than 16 levels deep; write fewer")))
  }
}
