/// Replaces `${NAME}` and `${NAME:-default}` in a definition's texts by values of environment variables.
///
/// Only a `$` before `{` is special, so the `$` of a regular expression needs no escape: `^\d+$` and `a$$b` are
/// unchanged. Before `{`, two of them represent a dollar sign: `$${NAME}` is the text `${NAME}`. As in a shell, a
/// default applies to a variable that is not set and to one that is empty, and may itself contain variables. Unlike
/// in a shell, the value of a variable is not expanded again.
struct EnvironmentText {
  /// A text that can't be used, or a default that was used.
  enum Note: Equatable {
    case mistake(String)
    case defaulted(String)
  }

  /// Deeper nesting of defaults is refused, so that a hostile text can't exhaust the stack.
  static let depthMax = 16

  let variables: [String: String]
  private(set) var notes: [Note] = []

  init(_ variables: [String: String]) { self.variables = variables }

  mutating func substituted(_ text: String) -> String {
    // The fast path for nearly every text.
    guard text.utf8.contains(UInt8(ascii: "$")) else { return text }
    return substituted(Array(text.unicodeScalars)[...], depth: 0)
  }

  private mutating func substituted(_ text: ArraySlice<Unicode.Scalar>, depth: Int) -> String {
    var result = String.UnicodeScalarView()
    var at = text.startIndex
    while at < text.endIndex {
      let dollars = text[at...].prefix { $0 == "$" }
      at = dollars.endIndex
      guard !dollars.isEmpty, at < text.endIndex, text[at] == "{" else {
        result.append(contentsOf: dollars)
        if at < text.endIndex { result.append(text[at]) }
        at += 1
        continue
      }
      result.append(contentsOf: dollars.dropLast(dollars.count - dollars.count / 2))
      guard !dollars.count.isMultiple(of: 2) else {
        result.append("{")
        at += 1
        continue
      }
      guard let end = closing(text[at...]) else {
        note("'${' is not closed by '}'; write ${NAME} or ${NAME:-default}, and '$${' for these two characters")
        return ""
      }
      result.append(contentsOf: value(of: text[(at + 1)..<end], depth: depth).unicodeScalars)
      at = end + 1
    }
    return String(result)
  }

  /// The brace that closes the first one; braces in between are matched.
  private func closing(_ text: ArraySlice<Unicode.Scalar>) -> Int? {
    var depth = 0
    for (index, scalar) in zip(text.indices, text) {
      if scalar == "{" { depth += 1 } else if scalar == "}" { depth -= 1 }
      if depth == 0 { return index }
    }
    return nil
  }

  /// The value of `NAME` or `NAME:-default`.
  private mutating func value(of reference: ArraySlice<Unicode.Scalar>, depth: Int) -> String {
    let nameScalars = reference.prefix { $0 == "_" || $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9") ~= $0) }
    let name = String(String.UnicodeScalarView(nameScalars))
    let rest = reference[nameScalars.endIndex...]
    let hasDefault = rest.starts(with: [":", "-"])
    guard let first = name.unicodeScalars.first, !("0"..."9" ~= first), rest.isEmpty || hasDefault else {
      let shown = RawText.shortened(String(String.UnicodeScalarView(reference)).utf8)
      note("'${\(shown)}' names no variable; write ${NAME} or ${NAME:-default}, and '$${' for '${' as it is")
      return ""
    }
    let set = variables[name]
    if let set, !(hasDefault && set.isEmpty) { return set }
    guard hasDefault else {
      let hint = NearestName.hint(for: name, in: variables.keys.sorted())
      note("the environment variable '\(name)' is not set; set it, or give a default: ${\(name):-…}\(hint)")
      return ""
    }
    guard depth < Self.depthMax else {
      note("defaults within defaults, more than \(Self.depthMax) levels deep; write fewer")
      return ""
    }
    notes.append(.defaulted(name))
    return substituted(rest.dropFirst(2), depth: depth + 1)
  }

  private mutating func note(_ message: String) { notes.append(.mistake(message)) }
}
