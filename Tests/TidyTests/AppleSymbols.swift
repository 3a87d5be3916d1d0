import Foundation

/// The names of Apple's public declarations, and what is known of each here.
struct AppleSymbols {
  enum State: String, CaseIterable { case present, deviates, unavailable, absent }

  /// The paths of Apple's declarations, such as `NSManagedObject.isFault`.
  let names: [String]
  let api: PublicAPI
  /// Why a declaration differs, by its path; and the path of the one in its place, if it is another.
  let deviations: [String: (place: String?, reason: String)]
  let unavailable: UnavailableDeclarations

  /// - Parameters:
  ///   - names: Paragraphs with a type in the first line and its members in the following ones.
  ///   - deviations: Lines of `path: reason` or `path = path: reason`.
  init(names: [String], deviations: [String], api: PublicAPI, unavailable: UnavailableDeclarations) {
    self.names = Self.paths(names)
    self.api = api
    self.unavailable = unavailable
    var known: [String: (String?, String)] = [:]
    for line in deviations where !line.hasPrefix("#") && !line.isEmpty {
      guard let end = line.rangeOutsideParentheses(of: ": ") else { continue }
      let sides = line[..<end.lowerBound].split(separator: " = ").map(String.init)
      known[sides[0]] = (sides.count > 1 ? sides[1] : nil, String(line[end.upperBound...]))
    }
    self.deviations = known
  }

  private static func paths(_ lines: [String]) -> [String] {
    var result: [String] = []
    var type: String?
    for line in lines where !line.hasPrefix("#") {
      if line.isEmpty {
        type = nil
      } else if let type {
        result += line.split(separator: " ").map { type == "global" ? String($0) : "\(type).\($0)" }
      } else {
        let words = line.split(separator: " ").map(String.init)
        type = words[0]
        if words.count == 1, words[0] != "global" { result.append(words[0]) }
      }
    }
    return result
  }

  func state(of path: String) -> State {
    if unavailable.has(path) { return .unavailable }
    let deviation = deviations[path]
    guard api.has(deviation?.place ?? path) else { return .absent }
    return deviation == nil ? .present : .deviates
  }

  func names(_ state: State) -> [String] { names.filter { self.state(of: $0) == state } }

  /// What the article Coverage says of the counts.
  var sentence: String {
    let counts = State.allCases.map { names($0).count }
    return "Of \(names.count) public names of Apple's framework, \(counts[0]) are present, \(counts[1]) deviate, "
      + "\(counts[2]) are unavailable with a message, and \(counts[3]) are absent."
  }
}

extension String {
  /// The first occurrence of a text outside of parentheses.
  fileprivate func rangeOutsideParentheses(of text: String) -> Range<String.Index>? {
    var depth = 0
    for index in indices {
      if self[index] == "(" { depth += 1 }
      if self[index] == ")" { depth -= 1 }
      if depth == 0, self[index...].hasPrefix(text) { return index..<self.index(index, offsetBy: text.count) }
    }
    return nil
  }
}

/// The declarations of a list in `docs/api`.
struct PublicAPI {
  private var paths: Set<String> = []
  /// Superclasses, protocols and what type aliases stand for, by the path of a type.
  private var others: [String: [String]] = [:]

  init(_ lines: [String]) {
    for line in lines {
      guard let end = line.rangeOutsideParentheses(of: ": ") else { continue }
      let (path, text) = (String(line[..<end.lowerBound]), line[end.upperBound...])
      let words = text.split(separator: " ")
      if words.count == 2, ["inheritsFrom", "conformsTo"].contains(words[0]) {
        others[path, default: []].append(String(words[1]))
      } else {
        paths.insert(path)
        if words.first == "typealias", let target = words.last { others[path, default: []].append(String(target)) }
      }
    }
  }

  /// Whether the list has a declaration, or a type has it from another one.
  func has(_ path: String) -> Bool {
    if paths.contains(path) { return true }
    var dots = path.indices.filter { path[$0] == "." }
    if let open = path.firstIndex(of: "(") { dots.removeAll { $0 > open } }
    guard let dot = dots.last else { return false }
    let member = path[dot...]
    return (others[String(path[..<dot])] ?? []).contains { has($0 + member) }
  }
}

/// The declarations of the folder for what does not exist here.
struct UnavailableDeclarations {
  private(set) var paths: Set<String> = []
  /// Declarations without a message.
  private(set) var silent: [String] = []

  init(_ files: [SourceFile]) {
    for file in files { read(file) }
  }

  /// Whether the path is that of a declaration, or of a member of an unavailable type.
  func has(_ path: String) -> Bool {
    paths.contains(path) || path.firstIndex(of: ".").map { has(String(path[..<$0])) } ?? false
  }

  private mutating func read(_ file: SourceFile) {
    var owner: String?
    var attribute: String?
    for (index, line) in file.lines.enumerated() {
      if line.hasPrefix("}") { owner = nil }
      if line.hasPrefix("extension ") { owner = line.split(separator: " ")[1].description }
      if line.contains("@available(") { attribute = file.lines[index...].prefix(6).joined() }
      guard let found = attribute, let name = Self.name(file.lines[index...]) else { continue }
      attribute = nil
      let path = owner.map { "\($0).\(name)" } ?? name
      paths.insert(path)
      let words = found.filter { $0 != " " }
      if !words.hasPrefix("@available(*,unavailable,message:\"") { silent.append(path) }
    }
  }

  /// The name of the declaration that begins with a line; nil if none does.
  private static func name(_ lines: ArraySlice<String>) -> String? {
    guard let first = lines.first, first.contains("public ") || first.contains("open ") else { return nil }
    let text = lines.prefix(4).joined(separator: " ")
    for keyword in ["class func ", "func ", "init", "class ", "struct ", "enum ", "let ", "var ", "typealias "] {
      guard let range = first.range(of: keyword) else { continue }
      let isCall = keyword.hasSuffix("func ") || keyword == "init"
      let start = keyword == "init" ? range.lowerBound : range.upperBound
      let base = first[start...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      guard isCall else { return String(base) }
      guard let open = text.firstIndex(of: "(") else { return nil }
      return "\(base)(\(labels(text[text.index(after: open)...])))"
    }
    return nil
  }

  /// The labels of parameters, as they are written in a name.
  private static func labels(_ text: Substring) -> String {
    var (depth, isAtStart, result, word) = (0, true, "", "")
    for character in text {
      switch character {
      case "(", "[", "<": depth += 1
      case ")" where depth == 0: return result
      case ")", "]", ">": depth -= 1
      case "," where depth == 0: (isAtStart, word) = (true, "")
      case " ", ":":
        if depth == 0, isAtStart, !word.isEmpty { (result, isAtStart) = (result + word + ":", false) }
      default: if isAtStart { word.append(character) }
      }
    }
    return result
  }
}
