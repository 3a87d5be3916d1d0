import CPostgreSQL
import Foundation
import ManagedObjectModel

/// The type of stores in a database of a PostgreSQL server, with a `postgresql://` URL. An extension of this library, not
/// in Core Data.
///
/// ```swift
/// let description = NSPersistentStoreDescription(url: address)  // postgresql://loader@db.example/journal
/// assert(description.type == NSPostgreSQLStoreType)
/// ```
public let NSPostgreSQLStoreType = "PostgreSQL"

/// Where a store is: a `postgresql://` address as libpq reads it, service files, password files and `sslmode` included.
package struct PostgreSQLAddress: Sendable {
  /// As it was given; it may have a password, so that it is in no message.
  private let text: String
  /// The address without passwords.
  let shown: String

  private static let schemes: Set<String> = ["postgresql", "postgres"]

  package static func isAddress(_ url: URL) -> Bool { schemes.contains(url.scheme?.lowercased() ?? "") }

  /// The URL of an address, which has several hosts or the folder of a socket among its parameters: a URL has one host.
  package static func url(_ text: String) -> URL? {
    if let url = URL(string: text) { return url }
    guard let scheme = text.range(of: "://") else { return nil }
    let rest = text[scheme.upperBound...]
    let authority = rest.prefix { !"/?#".contains($0) }
    let hosts = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    let user = authority.dropLast(hosts.count)
    let places = hosts.split(separator: ",", omittingEmptySubsequences: false).map { place in
      // The colons of an address of IPv6 are between brackets.
      let name = place.hasPrefix("[") ? place.prefix { $0 != "]" }.dropFirst() : place.prefix { $0 != ":" }
      let port = place.dropFirst(name.count + (place.hasPrefix("[") ? 2 : 0)).drop { $0 == ":" }
      return (name: name, port: port)
    }
    let tail = rest.dropFirst(authority.count)
    let path = tail.prefix { $0 != "?" }
    let parameters = tail.dropFirst(path.count + 1)
    let given =
      "host=" + places.map(\.name).joined(separator: ",")
      + (places.contains { !$0.port.isEmpty } ? "&port=" + places.map(\.port).joined(separator: ",") : "")
    let own = parameters.isEmpty ? "" : "&" + parameters
    return URL(string: "\(text[..<scheme.upperBound])\(user)\(path.isEmpty ? "/" : path)?\(given)\(own)")
  }

  /// - Throws: `NSError` 134080 for what libpq does not understand.
  init(_ url: URL, _ library: PostgreSQLLibrary) throws {
    text = url.absoluteString
    shown = Self.withoutPasswords(text)
    var problem: UnsafeMutablePointer<CChar>?
    guard let options = library.functions.parse_address(text, &problem) else {
      let reason = problem.map { String(cString: $0) } ?? "out of memory"
      if let problem { library.functions.free_memory(problem) }
      throw unusable(
        withoutPasswords(reason).trimmingCharacters(in: .whitespacesAndNewlines),
        advice: "Write it as postgresql://USER@HOST:PORT/DATABASE, and keep the password in the file that PGPASSFILE "
          + "names.")
    }
    library.functions.free_address(options)
  }

  /// - Parameter reason: What libpq or the server says of a setting, without a password.
  func unusable(settings reason: String) -> NSError {
    unusable(
      reason,
      advice: "Correct the setting in the address, in its service, or in the variable that it comes from, such as "
        + "PGSSLMODE.")
  }

  private func unusable(_ reason: String, advice: String) -> NSError {
    .coreData(
      .open, "The address \(shown) can't be used: \(reason). \(advice)",
      userInfo: [NSError.unusableAddressKey: true])
  }

  /// A message of libpq, which may quote the address or parts of a password that it takes for something else.
  func withoutPasswords(_ message: String) -> String { Self.withoutPasswords(message, quoting: text) }

  /// A message that may quote a text with a password, or parts of that password.
  package static func withoutPasswords(_ message: String, quoting text: String) -> String {
    let whole = passwords(in: text).flatMap { [$0, $0.removingPercentEncoding ?? $0] }
    guard !whole.isEmpty else { return message }
    let parts = Set(whole + whole.flatMap { $0.split(whereSeparator: { "/?#@:,&=%".contains($0) }).map(String.init) })
    let shortened = message.replacingOccurrences(of: text, with: withoutPasswords(text))
    let longestFirst = parts.filter { !$0.isEmpty }.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
    return longestFirst.reduce(shortened) { text, part in
      // A character or two are hidden where they are quoted; they are in most words.
      let mark = part.utf8.count > 2 ? "" : "\""
      return text.replacingOccurrences(of: mark + part + mark, with: mark + "***" + mark)
    }
  }

  /// The keywords and values of `PQconnectdbParams`.
  func parameters(timeoutSeconds: Double) -> [(keyword: String, value: String)] {
    // A network that is silent is noticed after a minute. What the address says comes later and counts.
    [
      ("connect_timeout", String(max(2, Int(timeoutSeconds.rounded(.up))))), ("tcp_user_timeout", "60000"),
      ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"), ("dbname", text),
      ("client_encoding", "UTF8"), ("fallback_application_name", ProcessInfo.processInfo.processName),
    ]
  }

  // MARK: Passwords

  /// The text with stars in the place of the bytes of its passwords.
  static func withStars(_ text: String) -> String {
    var shown = text
    for range in passwordRanges(in: text).sorted(by: { $0.lowerBound > $1.lowerBound }) {
      let password = text.index(after: range.lowerBound)..<range.upperBound
      shown.replaceSubrange(password, with: String(repeating: "*", count: text[password].utf8.count))
    }
    return shown
  }

  /// The parts of an address that may have a password: after the user's name, and of some parameters.
  ///
  /// A password may have any character, so that it ends at the last @ of the address: rather too much is hidden.
  private static func passwordRanges(in text: String) -> [Range<String.Index>] {
    var ranges: [Range<String.Index>] = []
    guard let scheme = text.range(of: "://") else { return keywordRanges(in: text) }
    let rest = text[scheme.upperBound...]
    let end = rest.firstIndex { "/?#".contains($0) } ?? text.endIndex
    var parametersStart = end
    if let colon = rest.firstIndex(of: ":"), let first = rest.firstIndex(of: "@"), let last = rest.lastIndex(of: "@"),
      colon < last, colon < first || colon < end
    {
      ranges.append(colon..<last)
      parametersStart = last
    }
    guard let question = text[parametersStart...].firstIndex(of: "?") else { return ranges }
    var start = text.index(after: question)
    while start < text.endIndex {
      let next = text[start...].firstIndex(of: "&") ?? text.endIndex
      if let equals = text[start..<next].firstIndex(of: "=") {
        let name = String(text[start..<equals])
        if isOfPassword(name.removingPercentEncoding ?? name) { ranges.append(equals..<next) }
      }
      start = next < text.endIndex ? text.index(after: next) : next
    }
    return ranges
  }

  /// The words of other clients count too: a person may try them.
  private static func isOfPassword(_ name: String) -> Bool {
    name.lowercased().hasSuffix("password") || ["pass", "passwd", "pwd"].contains(name.lowercased())
  }

  /// The same in keywords of libpq, `host=h password=p`.
  private static func keywordRanges(in text: String) -> [Range<String.Index>] {
    // The search takes a time that grows with the square of the length of a word.
    guard text.utf8.contains(UInt8(ascii: "=")) else { return [] }
    return text.matches(of: /(\w+)(\s*=\s*(?:'(?:[^'\\]|\\.)*'|[^\s&;]+))/).compactMap { match in
      guard isOfPassword(String(match.1)), let equals = match.2.firstIndex(of: "=") else { return nil }
      return equals..<match.range.upperBound
    }
  }

  private static func passwords(in text: String) -> [String] {
    passwordRanges(in: text).map { String(text[$0].dropFirst()) }
  }

  package static func withoutPasswords(_ text: String) -> String {
    var shown = text
    for range in passwordRanges(in: text).sorted(by: { $0.lowerBound > $1.lowerBound }) {
      let isOfUser = text[range.lowerBound] == ":"
      shown.replaceSubrange(range, with: isOfUser ? "" : "=***")
    }
    return shown
  }
}

extension NSError {
  fileprivate static let unusableAddressKey = "OpenCoreDataUnusableAddress"

  /// Whether libpq or the server refuses an address, or a setting that goes with it.
  package var isOfUnusableAddress: Bool { userInfo[Self.unusableAddressKey] as? Bool == true }
}
