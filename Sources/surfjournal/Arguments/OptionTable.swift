/// An option as declared by a line of a usage text.
struct CommandOption: Equatable {
  /// Without the dashes.
  let name: String
  let letter: Character?
  /// The placeholder of its value; nil for an option without a value.
  let placeholder: String?

  /// The options in a usage text: lines that begin with spaces and a dash; text after two spaces is the description.
  ///
  /// Every start of the program reads one, so it is read as bytes.
  static func declared(in usage: String) -> [CommandOption] {
    let (space, dash) = (UInt8(ascii: " "), UInt8(ascii: "-"))
    return usage.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let text = line.drop { $0 == space }
      guard text.first == dash, line.starts(with: [space, space]) else { return nil }
      var words = text.split(separator: space, omittingEmptySubsequences: false).prefix { !$0.isEmpty }
      var letter: Character?
      if let first = words.first, !first.starts(with: [dash, dash]) {
        letter = Substring(first).dropFirst().first
        words.removeFirst()
      }
      guard let name = words.first?.drop(while: { $0 == dash }) else { return nil }
      return CommandOption(
        name: String(Substring(name)), letter: letter,
        placeholder: words.dropFirst().first.map { String(Substring($0)) })
    }
  }
}
