import Testing

/// A rule of the project that a machine can check, with the proof that the check works.
struct Rule: Sendable, CustomTestStringConvertible {
  /// Said as a sentence about the repository.
  let testDescription: String
  /// Which files it is about.
  let covers: @Sendable (SourceFile) -> Bool
  /// The numbers of the lines that break it, from 1.
  let check: @Sendable (SourceFile) -> [Int]
  /// Made-up texts that break it in just one line each, and the number of that line.
  let canaries: [(text: String, line: Int)]
  /// Made-up texts that look alike and keep it.
  let permitted: [String]
  /// A path that the rule covers, for the made-up texts.
  let path: String

  init(
    _ description: String, path: String = "Sources/CSV/Example.swift",
    covers: @escaping @Sendable (SourceFile) -> Bool,
    canaries: [(text: String, line: Int)], permitted: [String],
    check: @escaping @Sendable (SourceFile) -> [Int]
  ) {
    testDescription = description
    self.path = path
    self.covers = covers
    self.check = check
    self.canaries = canaries
    self.permitted = permitted
  }

  /// Each breach as `path:line`, ready to be clicked.
  func breaches(in files: [SourceFile]) -> [String] {
    files.filter(covers).flatMap { file in check(file).map { "\(file.path):\($0)" } }
  }
}

extension SourceFile {
  /// The numbers of the lines whose code, or whose whole text, `isBreach` finds fault with.
  func lineNumbers(of lines: [String], where isBreach: (String) -> Bool) -> [Int] {
    lines.indices.filter { isBreach(lines[$0]) }.map { $0 + 1 }
  }

  /// Whether the line with this number gives a reason: in a comment of its own, in the comment right above, or in
  /// one that opens what it begins. A documentation comment says what a thing is for; it counts only if it speaks
  /// of safety.
  func givesReason(line number: Int) -> Bool {
    if commentIsReason(lines[number - 1], code: code[number - 1]) { return true }
    if lines[number - 1].hasSuffix("{"), number < lines.count,
      commentIsReason(lines[number], code: code[number])
    {
      return true
    }
    var above = number - 2
    while above >= 0, code[above].allSatisfy(\.isWhitespace), lines[above].contains("//") {
      if commentIsReason(lines[above], code: code[above]) { return true }
      above -= 1
    }
    return false
  }

  private func commentIsReason(_ line: String, code: String) -> Bool {
    // In masked code a comment is blank, so the comment is what follows the last code on the line.
    let codeLength = code.reversed().drop { $0 == " " }.count
    let comment = line.dropFirst(codeLength)
    guard comment.contains("//") else { return false }
    guard comment.contains("///") else { return true }
    return ["safe", "unchecked", "sendable"].contains { comment.lowercased().contains($0) }
  }
}
