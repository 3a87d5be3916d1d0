/// An option as declared by a line of a usage text.
struct CommandOption: Equatable {
  /// Without the dashes.
  let name: String
  let letter: Character?
  /// The placeholder of its value; nil for an option without a value.
  let placeholder: String?

  /// The options in a usage text: lines that begin with spaces and a dash; text after two spaces is the description.
  static func declared(in usage: String) -> [CommandOption] {
    usage.split(separator: "\n").compactMap { line in
      let text = line.drop { $0 == " " }
      guard text.hasPrefix("-"), line.hasPrefix("  ") else { return nil }
      var words: [Substring] = []
      for word in text.split(separator: " ", omittingEmptySubsequences: false) {
        if word.isEmpty { break }
        words.append(word)
      }
      var letter: Character?
      if let first = words.first, !first.hasPrefix("--") {
        letter = first.dropFirst().first
        words.removeFirst()
      }
      guard let name = words.first?.drop(while: { $0 == "-" }) else { return nil }
      return CommandOption(
        name: String(name), letter: letter, placeholder: words.dropFirst().first.map(String.init))
    }
  }
}
