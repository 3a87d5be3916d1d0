extension Rule {
  static let documentedErrors = Rule(
    "The doc comment of a public function that throws says what",
    covers: { $0.isSwift && $0.module != nil && !$0.path.contains("/Generated/") },
    canaries: [
      ("/// A.\npublic func a() throws {}", 2),
      ("/// A.\n@discardableResult\nopen func a(\n  b: Int\n) throws(B) -> C {}", 3),
      ("/// A.\n///\n/// - Parameter b: B.\npublic init(b: @escaping () throws -> Int) throws {}", 4),
      ("/// - Throws: A.\n\npublic func a() throws {}", 3),
    ],
    permitted: [
      "/// A.\n///\n/// - Throws: B.\npublic func a() throws {}",
      "/// A; throws `B`.\n@inlinable\npublic init() throws(B) {}",
      "/// A.\npublic func a(b: () throws -> Int) {}", "/// A.\npublic func a() -> () throws -> Int {}",
      "func a() throws {}", "static func open() throws {}", "public override func a() throws {}",
      "public func encode(to encoder: any Encoder) throws {}",
      "/// A.\npublic init(from decoder: any Decoder) throws {}", "/// A.\npublic let a: () throws -> Int",
    ]
  ) { file in
    file.code.indices.filter { index in
      let line = file.code[index]
      let words = line.prefix { $0 != "(" }.split { !$0.isLetter }
      guard let keyword = words.firstIndex(where: { $0 == "func" || $0 == "init" }) else { return false }
      let modifiers = words[..<keyword]
      guard modifiers.contains("public") || modifiers.contains("open"), !modifiers.contains("override"),
        !["encode(to ", "init(from decoder"].contains(where: line.contains)
      else { return false }
      return file.throwsErrors(from: index) && !file.docComment(above: index).lowercased().contains("throw")
    }.map { $0 + 1 }
  }
}

extension SourceFile {
  /// Whether the function that begins in the line throws: what is between its parameters and its result says so.
  fileprivate func throwsErrors(from index: Int) -> Bool {
    var (depth, effects, isAfter) = (0, "", false)
    for character in code[index...].prefix(20).joined(separator: " ") {
      if character == "(" { depth += 1 }
      if character == ")" {
        depth -= 1
        isAfter = isAfter || depth == 0
        continue
      }
      if isAfter, depth == 0 {
        if "-{".contains(character) { break }
        effects.append(character)
      }
    }
    return effects.split { !$0.isLetter }.contains { $0 == "throws" || $0 == "rethrows" }
  }

  /// The documentation comment that belongs to the line; empty if there is none.
  fileprivate func docComment(above index: Int) -> String {
    var comment = ""
    for above in lines[..<index].indices.reversed() {
      let text = lines[above].drop { $0 == " " }
      if text.hasPrefix("//") { comment += text + "\n" } else if !text.hasPrefix("@") { break }
    }
    return comment
  }
}
