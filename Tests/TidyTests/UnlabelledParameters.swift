extension Rule {
  static let unlabelledMax = 2

  /// Functions that only SQLite calls, through a pointer. C has no labels.
  static let unlabelledCallbacks: [String: Set<String>] = [
    "Sources/PersistentStores/External/ExternalDataFunctions.swift": [
      "externalValue", "externalColumn", "externalDropped",
    ],
    "Sources/PersistentStores/Predicates/PredicateFunctions.swift": ["stringCompare", "stringFold", "listValue"],
    "Sources/PersistentStores/Predicates/SummaryFunctions.swift": ["addToSum", "addToAverage"],
    "Sources/PersistentStores/SQLiteStore/BatchSource.swift": ["connectTable", "startScan", "columnValue"],
  ]

  /// The functions and initialisers of a file that have too many unlabelled parameters.
  fileprivate static func unlabelledFunctions(in file: SourceFile) -> [ParameterScan.Function] {
    ParameterScan(file.code).functions.filter { $0.unlabelledCount > unlabelledMax }
  }

  /// Entries of `unlabelledCallbacks` without such a function.
  static func staleCallbacks(in files: [SourceFile]) -> [String] {
    unlabelledCallbacks.flatMap { path, names in
      let found = files.first { $0.path == path }.map(unlabelledFunctions) ?? []
      return names.subtracting(found.map(\.name)).map { "\(path): \($0)" }
    }
  }

  static let unlabelledParameters = Rule(
    "A function has at most two parameters without a label",
    covers: { file in file.isSwift },
    canaries: [
      ("func a(_ b: Int, _ c: Int, _ d: Int) {}", 1),
      ("struct A {\n  init(_ b: Int, _ c: [Int: Int], _ d: inout Int) {}\n}", 2),
      ("init?(\n  _ b: Int, e: Int,\n  _ c: Int, _ d: Int\n) {}", 1),
      ("func a<B, C>(_ b: B, _ c: (B, C) -> Void, _ d: C) {}", 1),
      ("func `a b`(_ b: @autoclosure () -> Int, _ c: Int = f(1, 2), _ d: Int) {}", 1),
      ("let a = 1\nfunc b(_ a: Int, /* one */ _ b: Int, _ c: Int) {}", 2),
    ],
    permitted: [
      "func a(_ b: Int, _ c: Int, d: Int) {}",
      "func a(_ b: Int, _ c: Int, with d: Int) {}",
      "static func + (_ a: Int, _ b: Int, _ c: Int) {}",
      "func a(_ b: (_ c: Int, _ d: Int, _ e: Int) -> Void) {}",
      "// func a(_ b: Int, _ c: Int, _ d: Int)",
      "let a = \"func a(_ b: Int, _ c: Int, _ d: Int)\"",
      "typealias A = (_ b: Int, _ c: Int, _ d: Int) -> Void",
      "initialise(_, _, _)",
      "let a: (Int, Int, Int) -> Int = { _, _, _ in 1 }",
    ]
  ) { file in
    let callbacks = unlabelledCallbacks[file.path] ?? []
    return unlabelledFunctions(in: file).filter { !callbacks.contains($0.name) }.map(\.line)
  }
}

/// Finds functions and initialisers in masked code, and counts their unlabelled parameters.
private struct ParameterScan {
  struct Function {
    let name: String
    let line: Int
    let unlabelledCount: Int
  }

  private(set) var functions: [Function] = []
  private let characters: [Character]
  private var index = 0
  private var line = 1

  init(_ code: [String]) {
    characters = Array(code.joined(separator: "\n"))
    while index < characters.count {
      guard let word = nextWord() else {
        step()
        continue
      }
      if word == "func" || word == "init" { readFunction(isInitialiser: word == "init") }
    }
  }

  private mutating func step() {
    if characters[index] == "\n" { line += 1 }
    index += 1
  }

  private mutating func skipSpace() {
    while index < characters.count, characters[index].isWhitespace { step() }
  }

  private mutating func nextWord() -> String? {
    guard index < characters.count, characters[index].isLetter || characters[index] == "_" else { return nil }
    let start = index
    while index < characters.count, characters[index].isLetter || characters[index].isNumber || characters[index] == "_"
    {
      index += 1
    }
    return String(characters[start..<index])
  }

  /// Reads from after the keyword to the end of the parameter list. Operators are left out.
  private mutating func readFunction(isInitialiser: Bool) {
    let line = line
    var name = "init"
    skipSpace()
    if isInitialiser {
      if index < characters.count, "?!".contains(characters[index]) { index += 1 }
    } else if index < characters.count, characters[index] == "`" {
      let start = index
      repeat { step() } while index < characters.count && characters[index] != "`"
      if index < characters.count { step() }
      name = String(characters[start..<index])
    } else {
      guard let word = nextWord() else { return }
      name = word
    }
    skipSpace()
    if index < characters.count, characters[index] == "<" { skipGenericParameters() }
    skipSpace()
    guard index < characters.count, characters[index] == "(" else { return }
    step()
    functions.append(
      Function(name: name, line: line, unlabelledCount: parameters().count(where: Self.isUnlabelled)))
  }

  private mutating func skipGenericParameters() {
    var depth = 0
    while index < characters.count {
      if characters[index] == "<" { depth += 1 }
      if characters[index] == ">", characters[index - 1] != "-" { depth -= 1 }
      step()
      if depth == 0 { return }
    }
  }

  /// The texts of the parameters up to the closing parenthesis.
  private mutating func parameters() -> [String] {
    var texts = [""]
    var depth = 1
    while index < characters.count {
      let character = characters[index]
      if "([{<".contains(character) { depth += 1 }
      if ")]}".contains(character) || character == ">" && characters[index - 1] != "-" { depth -= 1 }
      step()
      if depth == 0 { break }
      if character == ",", depth == 1 { texts.append("") } else { texts[texts.count - 1].append(character) }
    }
    return texts
  }

  private static func isUnlabelled(_ parameter: String) -> Bool {
    let words = parameter.split(whereSeparator: \.isWhitespace)
    guard words.count > 1, words[0] == "_" else { return false }
    return words[1].contains(":") || words.count > 2 && words[2].hasPrefix(":")
  }
}
