import PipelineEngine

/// The options and operands of one command line, parsed by the declarations in the command's usage text.
struct Arguments: Sendable {
  let operands: [String]
  let command: String?
  private let values: [String: [String]]
  private let declared: Set<String>

  init(_ arguments: [String], usage: String, command: String?) throws(CommandFailure) {
    let options = CommandOption.declared(in: usage)
    var values: [String: [String]] = [:]
    do throws(Getopt.Mistake) {
      let parsed = try Getopt.parse(arguments, options)
      for (option, value) in parsed.options { values[option.name, default: []].append(value ?? "") }
      operands = parsed.operands
    } catch {
      throw .usage(Self.message(error, options), of: command)
    }
    self.command = command
    self.values = values
    declared = Set(options.map(\.name))
  }

  private static func message(_ mistake: Getopt.Mistake, _ options: [CommandOption]) -> String {
    switch mistake {
    case .unknown(let word): "unknown option '\(word)'" + hint(for: word, options)
    case .ambiguous(let word, let candidates):
      "'\(word)' may mean \(candidates.joined(separator: " or ")); write more of it"
    case .valueMissing(let option):
      "--\(option.name) needs a value: --\(option.name) \(option.placeholder ?? "")"
    case .valueUnwanted(let option): "--\(option.name) takes no value"
    }
  }

  private static func hint(for word: String, _ options: [CommandOption]) -> String {
    let usual = UsualGuess.hint(for: word, in: options)
    return usual.isEmpty ? NearestName.hint(for: word, in: options.map { "--\($0.name)" }) : usual
  }

  private init(_ other: Arguments, operands: [String], _ values: [String: [String]]) {
    (command, declared) = (other.command, other.declared)
    (self.operands, self.values) = (operands, values)
  }

  /// The same with options that are not given here.
  func adding(_ more: [String: [String]]) -> Arguments { replacing(operands: operands, adding: more) }

  /// The same with other operands, and with options that are not given here.
  func replacing(operands: [String], adding more: [String: [String]]) -> Arguments {
    let known = more.filter { declared.contains($0.key) }
    return Arguments(self, operands: operands, values.merging(known) { given, _ in given })
  }

  // MARK: Values

  /// Whether the command has the option.
  func isDeclared(_ name: String) -> Bool { declared.contains(name) }

  /// Whether the option is given; false for one that the command does not have.
  func isGiven(_ name: String) -> Bool { values[name] != nil }

  func has(_ name: String) -> Bool { !strings(name).isEmpty }

  /// The option's value; the last one if it is repeated.
  func string(_ name: String) -> String? { strings(name).last }

  /// Every value of an option that may be repeated.
  func strings(_ name: String) -> [String] {
    // The caller's mistake: commands name their options in their source.
    precondition(
      declared.contains(name), "the usage text of '\(command ?? "surfjournal")' declares no --\(name)")
    return values[name] ?? []
  }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
    guard let text = string(name) else { return nil }
    if let number = Int(text), range.contains(number) { return number }
    let bounds =
      range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
    throw mistake("--\(name) is '\(text)'; expected a whole number, \(bounds)")
  }

  func seconds(_ name: String) throws(CommandFailure) -> Double? {
    guard let text = string(name) else { return nil }
    if let number = Double(text), (0...86_400).contains(number) { return number }
    throw mistake("--\(name) is '\(text)'; expected seconds, 0 to 86400")
  }

  func percent(_ name: String) throws(CommandFailure) -> Double? {
    guard let text = string(name) else { return nil }
    if let number = Double(text), (0...100).contains(number) { return number }
    throw mistake("--\(name) is '\(text)'; expected a number from 0 to 100")
  }

  /// One of the raw values of `Choice`.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, _ type: Choice.Type
  ) throws(CommandFailure) -> Choice? where Choice.RawValue == String {
    guard let text = string(name) else { return nil }
    if let choice = Choice(rawValue: text) { return choice }
    let names = Choice.allCases.map(\.rawValue)
    let hint = NearestName.hint(for: text, in: names)
    throw mistake("--\(name) is '\(text)'; known are \(names.joined(separator: ", "))\(hint)")
  }

  /// An operand that the command has no use for.
  func unexpected(_ operand: String) -> CommandFailure {
    let output = isDeclared("output") && !isGiven("output") ? ", or name the output with -o" : ""
    return mistake("unexpected argument '\(StoreLocation(operand).shown)'; leave it out\(output)")
  }

  func mistake(_ message: String) -> CommandFailure { .usage(message, of: command) }

  /// For commands with one operand, or one after the first `count`.
  func onlyOperand(_ what: String, after count: Int = 0) throws(CommandFailure) -> String {
    guard operands.count > count else { throw mistake("\(what) is missing; name it") }
    if operands.count > count + 1 { throw unexpected(operands[count + 1]) }
    return operands[count]
  }

  /// For commands without operands.
  func requireNoOperands() throws(CommandFailure) {
    if let first = operands.first { throw unexpected(first) }
  }
}
