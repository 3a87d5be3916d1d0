import Foundation

extension NotifyDefinition {
  /// What is notified and when, in plain words, one line for each target. No line has a secret in it.
  var words: [String] {
    commands.map { "starts \($0.run.joined(separator: " ")) \(Self.words($0.on ?? on))" }
      + webhooks.map { "calls \(Self.address($0.url)) \(Self.words($0.on ?? on))\(Self.words($0.attempts))" }
      + mails.map { "sends a mail to \($0.to.joined(separator: ", ")) \(Self.words($0.on ?? on))" }
      + (ping.map {
        ["calls \(Self.address($0.url)) when a run begins, and when it ends, well or not\(Self.words($0.attempts))"]
      } ?? [])
  }

  private static func words(_ events: [Event]) -> String {
    if events.contains(.always) { return "after every run" }
    return "on " + events.map(\.rawValue).joined(separator: ", ")
  }

  /// The host alone: the rest of an address may be what gives access.
  private static func address(_ url: SecretText) -> String {
    guard case .text(let text) = url else { return "\(url)" }
    return URLComponents(string: text)?.host.map { "an address of \($0)" } ?? "an address"
  }

  private static func words(_ attempts: Attempts) -> String {
    let seconds = "within \(QuantityPattern.plain(attempts.timeoutSeconds)) s"
    return ", \(attempts.retries == 0 ? "once" : "up to \(attempts.retries + 1) times"), each \(seconds)"
  }
}

extension RetentionDefinition {
  /// What is removed, in plain words.
  var words: [String] {
    [
      ("reports", reports), ("imported files", processed),
      ("rejects that were replayed, or whose import was undone", rejects),
    ].compactMap { name, bounds in
      bounds.map { bounds in
        let parts = [
          bounds.days.map { "older than \($0) \($0 == 1 ? "day" : "days")" },
          bounds.count.map { "beyond the newest \($0)" },
        ]
        return "\(name) \(parts.compactMap(\.self).joined(separator: " or "))"
      }
    }
  }
}
