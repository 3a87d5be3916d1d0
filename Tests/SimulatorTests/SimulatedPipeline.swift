import Foundation
import SurfJournal
import TestSupport

@testable import PipelineDefinition

/// A pipeline that a seed has drawn, as the file that a process reads, and as what the model has to know of it.
struct SimulatedPipeline {
  enum Policy: String { case reject, skip, update, keepNewest }

  enum ChangedInputs: String { case refuse, replace, onlyNew }

  let key: [String]
  let policy: Policy
  let isAtomic: Bool
  let isAppendOnly: Bool
  let changedInputs: ChangedInputs
  let stopsAtErrors: Bool
  let delimiter: String
  let lineEnd: String
  let badOneIn: Int
  let linesMax: Int

  init(_ random: inout SeededGenerator) {
    key = random.pick([[], [], ["date", "location"], ["location"], ["date"]], else: [])
    policy = key.isEmpty ? .reject : random.pick([.reject, .skip, .update, .update, .keepNewest], else: .update)
    isAtomic = random.isOne(in: 5)
    isAppendOnly = random.isOne(in: 4)
    changedInputs = key.isEmpty ? random.pick([.refuse, .refuse, .replace, .onlyNew], else: .refuse) : .refuse
    stopsAtErrors = policy != .reject && random.isOne(in: 6)
    delimiter = random.pick([",", ";", "\t"], else: ",")
    lineEnd = random.isOne(in: 3) ? "\r\n" : "\n"
    badOneIn = random.pick([4, 12, 1000], else: 12)
    linesMax = random.pick([3, 12, 40], else: 12)
  }

  var updates: Bool { policy == .update || policy == .keepNewest }

  /// The definition's text; what does not decide what a record becomes may differ from run to run.
  func json(_ random: inout SeededGenerator) -> String {
    let duplicates =
      policy == .keepNewest ? #"{"policy": "keepNewest", "by": "date"}"# : "\"\(policy.rawValue)\""
    var members = [
      #""name": "simulated""#,
      #""columns": [{"name": "date", "required": true, "rules": ["required"]}, "location", "#
        + #"{"name": "rating", "rules": [{"rule": "range", "min": 1, "max": 5}]}]"#,
      "\"dialect\": {\"delimiter\": \"\(delimiter == "\t" ? "\\t" : delimiter)\"}",
      "\"chunkRows\": \(random.pick([1, 2, 5, 1000], else: 5))", "\"atomic\": \(isAtomic)",
      "\"limits\": {\"keysInMemoryMax\": \(random.pick([1, 4, 100_000], else: 4)), \"issuesListedMax\": "
        + "\(random.pick([0, 2, 1000], else: 2))}",
      #""inbox": {"folder": "in", "settleSeconds": 0}"#, "\"appendOnly\": \(isAppendOnly)",
    ]
    if !key.isEmpty {
      members += ["\"key\": [\(key.map { "\"\($0)\"" }.joined(separator: ", "))]", "\"duplicates\": \(duplicates)"]
    } else {
      members.append("\"changedInputs\": \"\(changedInputs.rawValue)\"")
    }
    if stopsAtErrors { members.append(#""errorPolicy": "stop""#) }
    members.append(#""export": {"columns": ["date", "location", "rating"], "dateFormat": "yyyy-MM-dd"}"#)
    return "{" + members.joined(separator: ",\n  ") + "}\n"
  }
}
