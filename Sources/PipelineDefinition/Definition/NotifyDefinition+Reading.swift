import Foundation

extension NotifyDefinition {
  private static let keys = ["on", "commands", "webhooks", "mails", "ping"]
  private static let commandKeys = ["run", "on", "summary", "environment", "timeoutSeconds"]
  private static let attemptKeys = ["retries", "retrySeconds", "timeoutSeconds"]
  private static let mailKeys = ["to", "from", "on", "sendmail", "timeoutSeconds"]

  /// The permitted values of `retries`.
  static let retriesRange = 0...20
  /// The permitted values of `retrySeconds`.
  static let retrySecondsRange = 0.0...60.0
  /// The permitted values of `timeoutSeconds`.
  static let timeoutSecondsRange = 0.1...600.0

  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> NotifyDefinition? {
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    var notify = NotifyDefinition()
    notify.on = events(reader) ?? notify.on
    func all<Target>(_ key: String, _ keys: [String], by read: (ObjectReader) -> Target?) -> [Target] {
      (reader.items(key) ?? []).compactMap { item in
        ObjectReader(item.value, path: item.path, keys: keys, mistakes: mistakes).flatMap(read)
      }
    }
    notify.commands = all("commands", commandKeys, by: readCommand)
    notify.webhooks = all("webhooks", ["url", "headers", "on"] + attemptKeys, by: readWebhook)
    notify.mails = all("mails", mailKeys, by: readMail)
    if let value = reader.value("ping") { notify.ping = readPing(value, reader) }
    if ["commands", "webhooks", "mails", "ping"].allSatisfy({ reader.value($0) == nil }) {
      mistakes.add(path, "notifies nothing; give 'commands', 'webhooks', 'mails' or 'ping', or leave it out")
    }
    return notify
  }

  // MARK: Parts

  private static func events(_ reader: ObjectReader) -> [Event]? {
    guard let texts = reader.strings("on") else { return nil }
    let names = Event.allCases.map(\.rawValue)
    return texts.enumerated().compactMap { index, text in
      if let event = Event(rawValue: text) { return event }
      let path = "\(reader.path("on"))[\(index)]"
      let hint = NearestName.hint(for: text, in: names)
      reader.mistakes.add(
        reader.mistakes.contains(path) ? path : reader.path("on"),
        "'\(text)' is none of \(ObjectReader.list(names))\(hint)")
      return nil
    }
  }

  private static func readCommand(_ reader: ObjectReader) -> Command? {
    if reader.value("run") == nil { reader.note("run", "is missing; list the program and its arguments") }
    let usual = Command(run: [])
    let run = reader.strings("run", emptyAllowed: true)
    if run?.first?.isEmpty ?? false || run?.isEmpty ?? false {
      reader.note("run", "names no program; write the program first, and its arguments after it")
    }
    return Command(
      run: run ?? [], on: events(reader), summary: reader.choice("summary", SummaryForm.self) ?? usual.summary,
      environment: named("environment", reader, isName: isVariable, noun: "a variable"),
      timeoutSeconds: reader.number("timeoutSeconds", in: timeoutSecondsRange) ?? usual.timeoutSeconds)
  }

  private static func readWebhook(_ reader: ObjectReader) -> Webhook? {
    let url = address(reader)
    let headers = named("headers", reader, isName: isHeader, noun: "a header")
    let (on, attempts) = (events(reader), readAttempts(reader))
    return url.map { Webhook($0, headers: headers, on: on, attempts: attempts) }
  }

  /// Reads an object, or a text that is only the address.
  private static func readPing(_ value: JSONValue, _ outer: ObjectReader) -> Ping? {
    if case .string(let text) = value {
      if text.isEmpty { outer.note("ping", "is empty; give an address, or leave 'ping' out") }
      checkAddress(text) { outer.note("ping", $0) }
      return Ping(.text(text))
    }
    let keys = ["url"] + attemptKeys
    guard let reader = ObjectReader(value, path: outer.path("ping"), keys: keys, mistakes: outer.mistakes) else {
      return nil
    }
    let (url, attempts) = (address(reader), readAttempts(reader))
    return url.map { Ping($0, attempts: attempts) }
  }

  private static func readMail(_ reader: ObjectReader) -> Mail? {
    if reader.value("to") == nil { reader.note("to", "is missing; list the addresses that get the mail") }
    let usual = Mail(to: [])
    let to = reader.strings("to") ?? []
    let from = reader.string("from")
    for (key, addresses) in [("to", to), ("from", from.map { [$0] } ?? [])]
    where addresses.contains(where: { !isMailAddress($0) }) {
      reader.note(key, "is not an address; write one such as surfer@example.org, or the name of a local user")
    }
    if reader.value("to") == .array([]) { reader.note("to", "is empty; list the addresses that get the mail") }
    let sendmail = reader.strings("sendmail") ?? usual.sendmail
    if sendmail.isEmpty { reader.note("sendmail", "is empty; name the program and its arguments") }
    return Mail(
      to: to, from: from, on: events(reader), sendmail: sendmail,
      timeoutSeconds: reader.number("timeoutSeconds", in: timeoutSecondsRange) ?? usual.timeoutSeconds)
  }

  private static func readAttempts(_ reader: ObjectReader) -> Attempts {
    let usual = Attempts()
    return Attempts(
      retries: reader.integer("retries", in: retriesRange) ?? usual.retries,
      retrySeconds: reader.number("retrySeconds", in: retrySecondsRange) ?? usual.retrySeconds,
      timeoutSeconds: reader.number("timeoutSeconds", in: timeoutSecondsRange) ?? usual.timeoutSeconds)
  }

  private static func named(
    _ key: String, _ reader: ObjectReader, isName: (String) -> Bool, noun: String
  ) -> [NamedSecret] {
    (reader.items(key) ?? []).compactMap { item in
      let parts = ObjectReader(item.value, path: item.path, keys: ["name", "value"], mistakes: reader.mistakes)
      guard let parts else { return nil }
      for needed in ["name", "value"] where parts.value(needed) == nil {
        parts.note(needed, "is missing; \(noun) has a name and a value")
      }
      let (name, value) = (parts.string("name"), SecretText.read("value", parts))
      if let name, !isName(name) { parts.note("name", "can't be the name of \(noun); use letters, digits, - and _") }
      guard let name, let value else { return nil }
      return NamedSecret(name, value)
    }
  }

  // MARK: Texts

  /// The address under `url`. A message about it must not contain it.
  private static func address(_ reader: ObjectReader) -> SecretText? {
    if reader.value("url") == nil {
      reader.note("url", "is missing; give an address that begins with https:// or http://, or {\"file\": PATH}")
    }
    let url = SecretText.read("url", reader)
    if case .text(let text)? = url { checkAddress(text) { reader.note("url", $0) } }
    return url
  }

  private static func checkAddress(_ text: String, _ note: (String) -> Void) {
    // A variable without a value has a mistake of its own.
    if let problem = addressProblem(text), !text.isEmpty { note(problem) }
  }

  /// What is wrong with the address of a request, without the address; nil for one that can be called.
  package static func addressProblem(_ text: String) -> String? {
    let advice = "give one that begins with https:// or http://"
    guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value < 0x7F }) else {
      return "is not an address: it has white space or characters that an address can't have; \(advice)"
    }
    let parts = URLComponents(string: text)
    guard let scheme = parts?.scheme?.lowercased(), ["http", "https"].contains(scheme), parts?.host?.isEmpty == false
    else { return "is not an address of the web; \(advice)" }
    return nil
  }

  /// A token of RFC 9110, without its rarer signs.
  private static func isHeader(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { isWordByte($0) || $0 == UInt8(ascii: "-") }
  }

  private static func isVariable(_ name: String) -> Bool {
    name.utf8.allSatisfy(isWordByte) && !name.isEmpty && name.first?.isNumber == false
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// What can stand in the header of a mail as one address.
  private static func isMailAddress(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy {
      $0.value > 0x20 && $0.value != 0x7F && !",;:<>()[]\"\\".unicodeScalars.contains($0)
    }
  }
}
