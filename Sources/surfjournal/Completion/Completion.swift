import PipelineEngine

/// What can be typed at the cursor of a command line: the answer to the completion scripts of bash, zsh and fish.
///
/// The scripts call `surfjournal complete WORD...` with the words after the program's name up to the cursor; the last
/// one is the word that is typed, and may be empty. Each line of the answer is a word, a tab and what it means. A line
/// `:files PREFIX` says that file names fit after PREFIX, which the word begins with.
struct Completion {
  /// The word that makes the program answer.
  static let word = "complete"

  private var lines: [String] = []
  private let line: CompletedLine

  /// The answer for the words after `complete`.
  static func answer(to words: [String]) -> String {
    var completion = Completion(words)
    completion.add()
    return completion.lines.map { $0 + "\n" }.joined()
  }

  private init(_ words: [String]) { line = CompletedLine(words) }

  private mutating func add() {
    let current = line.current
    if let option = line.pending {
      add(CompletedValue(of: option.name, in: name), to: current)
    } else if !line.endsOptions, current.hasPrefix("--"), let equals = current.firstIndex(of: "=") {
      guard let option = line.option(String(current[..<equals])), option.placeholder != nil else { return }
      let typed = current[current.index(after: equals)...]
      add(CompletedValue(of: option.name, in: name), to: String(typed), prefix: String(current[...equals]))
    } else if !line.endsOptions, current.hasPrefix("-") {
      addOptions()
    } else if line.command == nil {
      if line.operands.isEmpty { add(.commands, to: current) }
    } else {
      add(CompletedValue(operandOf: name, after: line.operands), to: current)
    }
  }

  private var name: String { line.command?.name ?? "" }

  private mutating func addOptions() {
    let summaries = CommandOption.summaries(in: line.command?.usage ?? CommandList.usage)
    for option in line.options {
      let summary = summaries[option.name] ?? ("", false)
      if line.given[option.name] == nil || summary.repeats {
        offer("--\(option.name)", summary.text, typed: line.current)
      }
    }
  }

  /// Adds what fits `typed`, each with `prefix` before it.
  private mutating func add(_ value: CompletedValue, to typed: String, prefix: String = "") {
    switch value {
    case .nothing: break
    case .files: addFiles(prefix)
    case .words(let words): offer(words, typed: typed, prefix: prefix)
    case .commands:
      for command in CommandList.all {
        offer(command.name, CommandList.summary(of: command.name), typed: typed, prefix: prefix)
      }
    case .pipelines:
      for item in PipelineCatalog.items {
        offer(item.name, (try? item.definition.get().description) ?? "", typed: typed, prefix: prefix)
      }
      addFiles(prefix)
    case .entities: offer(StoreVocabulary(line).entities, typed: typed, prefix: prefix)
    case .entityFiles:
      if let equals = typed.firstIndex(of: "=") { return addFiles(prefix + typed[...equals]) }
      if line.given["model"] != nil {
        offer(StoreVocabulary(line).entities.map { $0 + "=" }, typed: typed, prefix: prefix)
      }
      addFiles(prefix)
    case .attributes(let ending):
      offer(StoreVocabulary(line).attributes.map { $0 + ending }, typed: typed, prefix: prefix)
    case .attributeList:
      let done = typed.lastIndex(of: ",").map { typed[...$0] } ?? ""
      let chosen = Set(done.split(separator: ",").map(String.init))
      offer(
        StoreVocabulary(line).attributes.filter { !chosen.contains($0) }.map { done + $0 }, typed: typed,
        prefix: prefix)
    }
  }

  private mutating func addFiles(_ prefix: String) { lines.append(":files \(prefix)") }

  private mutating func offer(_ words: [String], typed: String, prefix: String) {
    for word in words { offer(word, "", typed: typed, prefix: prefix) }
  }

  /// A name from a file may have any characters: one that would break the line or act on a terminal is left out.
  private mutating func offer(_ word: String, _ meaning: String, typed: String, prefix: String = "") {
    guard word.hasPrefix(typed), word.unicodeScalars.allSatisfy(Self.isPrinted) else { return }
    lines.append("\(prefix)\(word)\t\(meaning.unicodeScalars.allSatisfy(Self.isPrinted) ? meaning : "")")
  }

  private static func isPrinted(_ scalar: Unicode.Scalar) -> Bool {
    ![.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
  }
}
