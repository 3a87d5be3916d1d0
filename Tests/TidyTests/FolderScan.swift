/// Which folders of a module name types of which others.
///
/// A file uses a folder if its code names a type that is declared at the top level of a file there, or a member that a
/// file there adds to a type of another folder, or a global function or variable. Names that several files declare, or
/// that the file gives to something of its own, are left out.
struct FolderScan {
  /// By folder, every folder that it uses; files at the module's root are the folder ".".
  private(set) var arrows: [String: Set<String>] = [:]
  /// For each arrow a file and a name that it uses, to begin with when it has to go.
  private(set) var examples: [Arrow: String] = [:]

  struct Arrow: Hashable {
    let from: String
    let to: String
  }

  init(module: String, files: [SourceFile]) {
    let all = files.filter { $0.isSwift && $0.module != nil && !$0.path.contains(".docc/") }
    let files = all.filter { $0.module == module }
    var owners: [Substring: Set<String>] = [:]
    for file in files {
      arrows[Self.folder(of: file), default: []] = []
      for type in Self.typesDeclared(in: file) { owners[type, default: []].insert(file.path) }
    }
    let folders = Dictionary(uniqueKeysWithValues: files.map { ($0.path, Self.folder(of: $0)) })
    let members = MemberScan(of: files, types: owners, folders: folders, others: all)
    for file in files {
      let own = Set(Self.typesDeclared(in: file, nested: true))
      for type in Self.typesNamed(in: file) where !own.contains(type) {
        if let owner = owners[type], owner.count == 1, let path = owner.first { add(type, of: path, in: file, folders) }
      }
      for (member, path) in members.used(in: file) { add(member, of: path, in: file, folders) }
    }
  }

  private mutating func add(_ name: Substring, of path: String, in file: SourceFile, _ folders: [String: String]) {
    guard let from = folders[file.path], let to = folders[path], from != to else { return }
    arrows[from, default: []].insert(to)
    let arrow = Arrow(from: from, to: to)
    if examples[arrow] == nil { examples[arrow] = "\(file.path) names \(name)" }
  }

  /// The path of the file's folder below the module; a sub-folder is a folder of its own.
  private static func folder(of file: SourceFile) -> String {
    let folders = file.path.split(separator: "/").dropFirst(2).dropLast()
    return folders.isEmpty ? "." : folders.joined(separator: "/")
  }

  /// The modules whose files are not all at their root.
  static func modulesWithFolders(_ files: [SourceFile]) -> Set<String> {
    Set(
      files.filter { $0.isSwift && !$0.path.contains(".docc/") && folder(of: $0) != "." }.compactMap(\.module))
  }

  private static let keywords: Set<Substring> = ["actor", "class", "enum", "protocol", "struct", "typealias"]

  /// Those at the top level, or those in others too.
  private static func typesDeclared(in file: SourceFile, nested: Bool = false) -> [Substring] {
    var depth = 0
    var types: [Substring] = []
    for line in file.code {
      if depth == 0 || nested {
        let head = nested ? line[...] : line.prefix { $0 != "{" }
        let words = head.split { !isPartOfName($0) }
        for (keyword, name) in zip(words, words.dropFirst()) where keywords.contains(keyword) && isType(name) {
          types.append(name)
        }
      }
      for character in line {
        if character == "{" { depth += 1 }
        if character == "}" { depth -= 1 }
      }
    }
    return types
  }

  private static func typesNamed(in file: SourceFile) -> [Substring] {
    var found: Set<Substring> = []
    var types: [Substring] = []
    for line in file.code {
      for word in line.split(whereSeparator: { !isPartOfName($0) }) where isType(word) {
        if found.insert(word).inserted { types.append(word) }
      }
    }
    return types
  }

  static func isPartOfName(_ character: Character) -> Bool {
    character == "_" || character.isLetter || character.isNumber
  }

  static func isType(_ word: Substring) -> Bool { word.first?.isUppercase == true }
}

extension [String: Set<String>] {
  /// The same without one arrow.
  func removing(_ arrow: FolderScan.Arrow) -> Self {
    var arrows = self
    arrows[arrow.from]?.remove(arrow.to)
    return arrows
  }

  /// The nodes that arrows lead back to.
  var nodesInCircles: [String] {
    keys.filter { node in
      var reached: Set<String> = []
      var next = Array(self[node] ?? [])
      while let one = next.popLast() {
        if reached.insert(one).inserted { next += self[one] ?? [] }
      }
      return reached.contains(node)
    }
    .sorted()
  }
}
