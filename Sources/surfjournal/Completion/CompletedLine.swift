/// The words of a command line up to the cursor, taken apart as far as they are there.
///
/// Unlike ``Arguments`` it accepts what is unfinished or wrong: a shell asks in the middle of typing.
struct CompletedLine {
  /// The command; nil while it is typed itself, or if there is none of that name.
  let command: (any Command.Type)?
  let options: [CommandOption]
  /// The last value of each option that is given; an empty text for one without a value.
  private(set) var given: [String: String] = [:]
  private(set) var operands: [String] = []
  /// The option whose value is typed.
  private(set) var pending: CommandOption?
  /// Whether `--` is given, so that no options follow.
  private(set) var endsOptions = false
  /// The word at the cursor, up to the cursor.
  let current: String

  /// - Parameter words: The words after the program's name; the last one is typed, and may be empty.
  init(_ words: [String]) {
    current = words.last ?? ""
    let before = Array(words.dropLast())
    let found = try? CommandList.find(before)
    command = found?.command
    options = CommandOption.declared(in: command?.usage ?? CommandList.usage)
    for word in found?.rest ?? before { take(word) }
  }

  private mutating func take(_ word: String) {
    if let option = pending {
      given[option.name] = word
      pending = nil
    } else if endsOptions || word == "-" || !word.hasPrefix("-") {
      operands.append(word)
    } else if word == "--" {
      endsOptions = true
    } else {
      let isLong = word.hasPrefix("--")
      // A value may follow a letter at once.
      let parts =
        isLong
        ? word.split(separator: "=", maxSplits: 1).map(String.init)
        : [String(word.prefix(2)), String(word.dropFirst(2))].filter { !$0.isEmpty }
      guard let option = option(parts[0]) else { return }
      if parts.count > 1 || option.placeholder == nil {
        given[option.name] = parts.count > 1 ? parts[1] : ""
      } else {
        pending = option
      }
    }
  }

  /// The store that the line names.
  var store: String? {
    switch command?.storeWord ?? .none {
    case .option, .optionBeforeIDs: given["store"] ?? operands.first
    default: given["store"]
    }
  }

  /// The option that is written with its dashes; a beginning that only one option has will do.
  func option(_ text: String) -> CommandOption? {
    guard text.hasPrefix("--") else { return options.first { $0.letter == text.dropFirst().first } }
    let name = text.dropFirst(2)
    let matching = options.filter { $0.name.hasPrefix(name) }
    return matching.first { $0.name == name } ?? (matching.count == 1 ? matching.first : nil)
  }
}
