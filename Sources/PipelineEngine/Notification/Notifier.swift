import Dispatch
import Foundation
import SystemSupport

/// Notifies what a pipeline names of a run. What can't be notified never changes the run's result.
package final class Notifier: Sendable {
  /// What became of one notification.
  package struct Result: Sendable {
    /// The key path in the definition, and what it leads to.
    package let target: String
    /// Nil where it was delivered.
    package let problem: String?
  }

  private let definition: PipelineDefinition
  private let notify: NotifyDefinition
  private let now: @Sendable () -> Date
  /// Waits for the ping of the start, which is sent while the run works.
  private let start = DispatchGroup()
  private let startResult = Locked<Result?>(nil)

  /// Nil where the definition notifies nothing.
  package init?(_ definition: PipelineDefinition, now: @escaping @Sendable () -> Date = { Date() }) {
    guard let notify = definition.notify else { return nil }
    (self.definition, self.notify, self.now) = (definition, notify, now)
  }

  private var program: String { definition.vocabulary.program }

  /// Called when the run begins. Returns at once.
  package func begin() {
    guard let ping = notify.ping else { return }
    start.enter()
    Thread.begin("notification") {
      let result = self.call(ping, path: "/start", body: [])
      self.startResult.withLock { $0 = result }
      self.start.leave()
    }
  }

  /// Called when the run has ended. Waits until everything is delivered, or has failed.
  func end(_ notice: Notice) -> [Result] {
    var results: [Result] = []
    for (index, command) in notify.commands.enumerated() where notice.concerns(command.on ?? notify.on) {
      results.append(run(command, notice, path: "notify.commands[\(index)]"))
    }
    for (index, webhook) in notify.webhooks.enumerated() where notice.concerns(webhook.on ?? notify.on) {
      results.append(call(webhook, notice, path: "notify.webhooks[\(index)]"))
    }
    for (index, mail) in notify.mails.enumerated() where notice.concerns(mail.on ?? notify.on) {
      results.append(send(mail, notice, path: "notify.mails[\(index)]"))
    }
    if let ping = notify.ping {
      start.wait()
      if let result = startResult.withLock({ $0 }), result.problem != nil { results.append(result) }
      if let path = Self.pingPath(notice) { results.append(call(ping, path: path, body: Array(notice.text.utf8))) }
    }
    return results
  }

  /// What is added to the address; nil for a run that another one kept from beginning, or that a person has cancelled: the
  /// next one says how the pipeline is.
  private static func pingPath(_ notice: Notice) -> String? {
    if notice.isTest { return notice.event == .failure ? "/fail" : "" }
    let record = RunRecord(notice.summary, reports: [])
    if record.isIdle { return "" }
    return record.isTelling ? (record.hasFailed ? "/fail" : "") : nil
  }

  // MARK: Targets

  private func run(_ command: NotifyDefinition.Command, _ notice: Notice, path: String) -> Result {
    attempt("\(path) (\(command.run.first ?? ""))") { secrets throws(Undelivered) in
      var environment = ProcessInfo.processInfo.environment.merging(notice.variables) { $1 }
      for variable in command.environment { environment[variable.name] = try secrets.text(of: variable.value) }
      let program = StartedProgram(
        words: command.run, environment: environment, folder: definition.baseDirectory,
        timeoutSeconds: command.timeoutSeconds)
      try Self.run(program, try Self.encoded { try notice.input(command.summary) })
    }
  }

  private func send(_ mail: NotifyDefinition.Mail, _ notice: Notice, path: String) -> Result {
    attempt("\(path) (\(mail.to.joined(separator: ", ")))") { _ throws(Undelivered) in
      let text = MailText(to: mail.to, from: mail.from, subject: notice.subject, text: notice.text, date: now())
      let program = StartedProgram(
        words: mail.sendmail, environment: ProcessInfo.processInfo.environment, folder: definition.baseDirectory,
        timeoutSeconds: mail.timeoutSeconds)
      try Self.run(program, text.bytes)
    }
  }

  private static func run(_ program: StartedProgram, _ input: [UInt8]) throws(Undelivered) {
    do throws(ProgramFailure) {
      try program.run(input)
    } catch {
      throw Undelivered(error.message)
    }
  }

  private func call(_ webhook: NotifyDefinition.Webhook, _ notice: Notice, path: String) -> Result {
    attempt(path) { secrets throws(Undelivered) in
      var headers = ["Content-Type: application/json"]
      // A repeated request is the same message.
      if let run = notice.summary.run { headers.append("Idempotency-Key: \(run)-\(notice.event.rawValue)") }
      for header in webhook.headers {
        let value = try secrets.text(of: header.value)
        guard value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" }) else {
          throw Undelivered("the value of the header \(header.name) has a line break or a control character")
        }
        headers.removeAll { $0.lowercased().hasPrefix(header.name.lowercased() + ":") }
        headers.append("\(header.name): \(value)")
      }
      try request(
        try Self.address(webhook.url, &secrets), body: try Self.encoded { try notice.json() },
        headers: headers, attempts: webhook.attempts)
    }
  }

  private func call(_ ping: NotifyDefinition.Ping, path: String, body: [UInt8]) -> Result {
    attempt("notify.ping" + path) { secrets throws(Undelivered) in
      let address = try Self.address(ping.url, &secrets)
      let end = address.firstIndex { $0 == "?" || $0 == "#" } ?? address.endIndex
      let base = address[..<end].hasSuffix("/") && !path.isEmpty ? address[..<end].dropLast() : address[..<end]
      try request(
        base + path + address[end...], body: body, headers: ["Content-Type: text/plain; charset=utf-8"],
        attempts: ping.attempts)
    }
  }

  private func request(
    _ url: String, body: [UInt8], headers: [String], attempts: NotifyDefinition.Attempts
  ) throws(Undelivered) {
    let request = HTTPClient.Request(
      url: url, body: body, headers: headers, agent: program, timeoutSeconds: attempts.timeoutSeconds)
    try RepeatedRequest(request: request, attempts: attempts).send(try HTTPClient.shared())
  }

  private static func address(
    _ secret: SecretText, _ secrets: inout RevealedSecrets
  ) throws(Undelivered) -> String {
    let address = try secrets.text(of: secret)
    if let problem = NotifyDefinition.addressProblem(address) { throw Undelivered("the address \(problem)") }
    return address
  }

  private static func encoded(_ body: () throws -> [UInt8]) throws(Undelivered) -> [UInt8] {
    do {
      return try body()
    } catch {
      throw Undelivered("the summary can't be written as JSON: \(error)")
    }
  }

  private func attempt(
    _ target: String, _ body: (inout RevealedSecrets) throws(Undelivered) -> Void
  ) -> Result {
    var secrets = RevealedSecrets(of: definition)
    do throws(Undelivered) {
      try body(&secrets)
      return Result(target: target, problem: nil)
    } catch {
      return Result(target: target, problem: secrets.hidden(in: RawText.oneLine(error.message)))
    }
  }
}

extension Notifier {
  /// Sends a test of what an event would send, to everything that the definition names, whatever the events are for.
  package func test(_ event: NotifyDefinition.Event) -> [Result] {
    var summary = RunSummary(
      kind: .import, pipeline: definition.name, startedAt: now(), seconds: 0, program: program)
    if event == .failure { summary.outcome = .stopped }
    summary.stopReason = event == .failure ? "this is a test" : nil
    let everything = Self(everythingOf: definition, now: now)
    everything?.begin()
    return everything?.end(Notice(testing: event, summary)) ?? []
  }

  private convenience init?(everythingOf definition: PipelineDefinition, now: @escaping @Sendable () -> Date) {
    var definition = definition
    definition.notify?.on = [.always]
    for index in (definition.notify?.commands ?? []).indices { definition.notify?.commands[index].on = nil }
    for index in (definition.notify?.webhooks ?? []).indices { definition.notify?.webhooks[index].on = nil }
    for index in (definition.notify?.mails ?? []).indices { definition.notify?.mails[index].on = nil }
    self.init(definition, now: now)
  }
}
