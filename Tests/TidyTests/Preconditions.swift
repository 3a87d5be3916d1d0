import Foundation

extension Rule {
  /// What reads files, stores, standard input and arguments of the command line: nothing in there may end the program
  /// because of what it reads.
  static let inputFolders = [
    "Sources/CSV", "Sources/ManagedObjectModel/Archives", "Sources/ManagedObjectModel/KeyPaths",
    "Sources/ManagedObjectModel/ModelFiles", "Sources/PersistentStores", "Sources/PipelineDefinition",
    "Sources/PipelineEngine", "Sources/StoreInspection", "Sources/SurfJournal", "Sources/TableGuessing",
    "Sources/modelgen", "Sources/surfjournal",
  ]

  static let preconditions = Rule(
    "A precondition says the caller's error, and where input is read also why no input breaks it",
    path: "Sources/OpenCoreData/Example.swift",
    covers: { $0.isSwift && $0.lies(in: "Sources") },
    canaries: [
      ("precondition(a > 0)", 1), ("let a = 1\npreconditionFailure()", 2), ("precondition(a > 0, \"\")", 1),
      ("assert(a.contains { $0 == b })", 1), ("assertionFailure()", 1),
      ("precondition(\n  a(b, c)\n)", 1), ("precondition(a, message)", 1),
      ("/// Stops.\npreconditionFailure(error.localizedDescription)", 2),
    ],
    permitted: [
      "precondition(a > 0, \"a must be positive\")", "preconditionFailure(\"a \\(b, c) d\")",
      "precondition(\n  a(b, c),\n  \"a must be\"\n    + \" positive\")", "// assert(a)", "let a = \"assert(a)\"",
      "// Apple's method can't throw.\npreconditionFailure(error.localizedDescription)",
      "expect.precondition(a)", "func precondition(_ a: Bool) {}",
    ]
  ) { file in
    let needsReason = inputFolders.contains { file.lies(in: $0) }
    return file.traps.filter { trap in
      (needsReason || !trap.hasMessage) && !file.givesReason(line: trap.line)
    }.map(\.line)
  }
}

extension SourceFile {
  /// The calls that end the program if something does not hold.
  fileprivate var traps: [(line: Int, hasMessage: Bool)] {
    code.indices.flatMap { index in
      ["precondition(", "preconditionFailure(", "assert(", "assertionFailure("].flatMap { name in
        code[index].ranges(of: name).compactMap { range -> (line: Int, hasMessage: Bool)? in
          let before = code[index][..<range.lowerBound]
          if before.last.map({ $0.isLetter || $0.isNumber || "._".contains($0) }) == true { return nil }
          if before.hasSuffix("func ") { return nil }
          let arguments = Self.arguments(code[index][range.upperBound...], code[(index + 1)...])
          // The condition comes first.
          let message = name.contains("Failure") ? arguments.first : arguments.dropFirst().first
          return (index + 1, message.map { $0.hasPrefix("\"") && $0 != "\"\"" } ?? false)
        }
      }
    }
  }

  /// The arguments of a call, of which the first line is what follows its parenthesis.
  private static func arguments(_ first: Substring, _ rest: ArraySlice<String>) -> [String] {
    var (depth, argument, arguments) = (1, "", [String]())
    for character in ([String(first)] + rest).joined(separator: "\n") {
      if "([{".contains(character) { depth += 1 }
      if ")]}".contains(character) { depth -= 1 }
      if depth == 0 { break }
      if depth == 1, character == "," {
        arguments.append(argument)
        argument = ""
      } else {
        argument.append(character)
      }
    }
    return (arguments + [argument]).map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
  }
}
