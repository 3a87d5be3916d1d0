/// The members that files of a module add to types of other folders, and its global functions and variables.
///
/// A type's own members are no arrows: who has a value of the type names the type, or was given the value.
struct MemberScan {
  /// By name, the file that declares it.
  private var owners: [Substring: String] = [:]

  /// - Parameters:
  ///   - types: The files that declare each type of the module.
  ///   - folders: The folder of each file of the module.
  ///   - others: All files in which a name may be declared once more.
  init(of files: [SourceFile], types: [Substring: Set<String>], folders: [String: String], others: [SourceFile]) {
    var counts: [Substring: Int] = [:]
    for line in others.lazy.flatMap(\.code) {
      for name in Self.namesDeclared(in: line[...]) { counts[name, default: 0] += 1 }
    }
    for file in files {
      for (name, type) in Self.additions(in: file) where counts[name] == 1 {
        let declaringFiles = type.flatMap { types[$0] } ?? []
        if !declaringFiles.contains(where: { folders[$0] == folders[file.path] }) { owners[name] = file.path }
      }
    }
  }

  /// The additions of other files whose names the file's code has, and does not give to a parameter or an argument.
  func used(in file: SourceFile) -> [(name: Substring, path: String)] {
    var found: [Substring: String] = [:]
    var labels: Set<Substring> = []
    for line in file.code {
      var rest = line[...]
      while let start = rest.firstIndex(where: FolderScan.isPartOfName) {
        let word = rest[start...].prefix(while: FolderScan.isPartOfName)
        rest = rest[word.endIndex...]
        if rest.first == ":" {
          labels.insert(word)
        } else if let path = owners[word], path != file.path {
          found[word] = path
        }
      }
    }
    return found.filter { !labels.contains($0.key) }.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
  }

  // MARK: Declarations

  private static let keywords: Set<Substring> = ["case", "func", "let", "var"]
  private static let typeKeywords: Set<Substring> = ["actor", "class", "enum", "extension", "protocol", "struct"]

  /// Local ones too.
  private static func namesDeclared(in line: Substring) -> [Substring] {
    let words = line.split { !FolderScan.isPartOfName($0) }
    return zip(words, words.dropFirst()).filter { keywords.contains($0.0) }.map(\.1)
  }

  /// What a file adds, each with the type that it extends; nil for globals.
  private static func additions(in file: SourceFile) -> [(name: Substring, type: Substring?)] {
    var found: [(Substring, Substring?)] = []
    var depth = 0
    var extended: Substring?
    for line in file.code {
      let words = line.split { !FolderScan.isPartOfName($0) }
      let isPrivate = words.contains("private") || words.contains("fileprivate")
      if depth == 0, let keyword = words.first(where: typeKeywords.contains) {
        extended = keyword == "extension" && !isPrivate ? words.first(where: FolderScan.isType) : nil
        if extended != nil { found += namesDeclared(in: line[...]).prefix(1).map { ($0, extended) } }
      } else if !isPrivate, depth == 0 || depth == 1 && extended != nil {
        found += namesDeclared(in: line[...]).prefix(1).map { ($0, depth == 0 ? nil : extended) }
      }
      for character in line {
        if character == "{" { depth += 1 }
        if character == "}" { depth -= 1 }
      }
    }
    return found
  }
}
