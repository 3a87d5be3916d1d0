/// An option as declared by a line of a usage text.
struct CommandOption: Equatable {
  /// Without the dashes.
  let name: String
  let letter: Character?
  /// The placeholder of its value; nil for an option without a value.
  let placeholder: String?

  /// The options in a usage text: lines that begin with two spaces and a letter's dash, or with six spaces and two
  /// dashes. Text after two spaces is the description. A dash at another indentation belongs to a description or an
  /// example.
  ///
  /// Every start of the program reads one, so it is read as bytes.
  static func declared(in usage: String) -> [CommandOption] {
    let (space, dash) = (UInt8(ascii: " "), UInt8(ascii: "-"))
    return usage.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let text = line.drop { $0 == space }
      guard text.first == dash else { return nil }
      let isLong = text.starts(with: [dash, dash])
      guard line.count - text.count == (isLong ? 6 : 2) else { return nil }
      var words = text.split(separator: space, omittingEmptySubsequences: false).prefix { !$0.isEmpty }
      var letter: Character?
      if !isLong, let first = words.first {
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
