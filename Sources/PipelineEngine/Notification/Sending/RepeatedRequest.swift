import Foundation

/// A request that is sent until it is answered, or has been tried often enough.
struct RepeatedRequest {
  var request: HTTPClient.Request
  let attempts: NotifyDefinition.Attempts

  private static let pauseSecondsMax = 60.0

  /// - Parameter pause: Waits between two attempts.
  func send(_ client: HTTPClient, pause: (Double) -> Void = { Thread.sleep(forTimeInterval: $0) }) throws(Undelivered) {
    var seconds = attempts.retrySeconds
    for attempt in 1...(attempts.retries + 1) {
      let answer = client.send(request)
      if case .status(let status) = answer, (200..<300).contains(status) { return }
      if attempt > attempts.retries || !Self.isWorthRepeating(answer) { throw Self.problem(answer, attempt) }
      pause(seconds)
      seconds = min(seconds * 2, Self.pauseSecondsMax)
    }
  }

  /// Whether another attempt may have another answer.
  private static func isWorthRepeating(_ answer: HTTPClient.Answer) -> Bool {
    switch answer {
    case .none: true
    case .status(let status): status >= 500 || [408, 425, 429].contains(status)
    }
  }

  private static func problem(_ answer: HTTPClient.Answer, _ attempt: Int) -> Undelivered {
    let times = attempt == 1 ? "" : ", after \(attempt) attempts"
    switch answer {
    case .none(let reason): return Undelivered("no answer\(times): \(reason)")
    case .status(let status) where (300..<400).contains(status):
      return Undelivered("the answer was the status \(status), which leads to another address; use that one")
    case .status(let status): return Undelivered("the answer was the status \(status)\(times)")
    }
  }
}
