import CSV
import Foundation
import SystemSupport

/// The files that the sources of a definition name when its run starts.
///
/// A source is a path or a shell pattern: `*`, `?` and `[a-z]` within a name, `{a,b}` for alternatives, and `**` as a
/// whole name for any number of folders, including none. Neither names that begin with a dot nor folders are matched.
/// The matches of a pattern are in the order of the names' bytes; a file that an earlier source already named is
/// skipped. A path that exists is taken literally, whatever characters it has.
enum InputFiles {
  /// The inputs of a run over the definition's own sources. A pattern without a match becomes an input that can't be
  /// read, unless the definition says that sources are optional.
  static func expand(_ definition: PipelineDefinition) -> [InputFile] {
    // Which inputs there are, only their command knows.
    if definition.read != nil { return definition.source.map { InputFile(name: $0, path: $0) } }
    var inputs: [InputFile] = []
    for source in definition.source {
      let path = definition.path(source)
      if path == "-" || exists(path) {
        inputs.append(InputFile(name: source, path: path))
      } else if let problem = SourcePattern.problem(of: source) {
        inputs.append(InputFile(name: source, path: path, patternProblem: problem))
      } else if isPattern(source) {
        let known = Set(inputs.map(\.path))
        let (found, unreadable) = matches(source, from: definition.baseDirectory)
        inputs += found.filter { !known.contains($0.path) }
        if let unreadable {
          inputs.append(InputFile(name: source, path: path, unreadable: unreadable))
          continue
        }
        if found.isEmpty, !definition.sourceOptional {
          inputs.append(InputFile(name: source, path: path, isUnmatchedPattern: true))
        }
      } else if !definition.sourceOptional {
        inputs.append(InputFile(name: source, path: path))
      }
    }
    return inputs
  }

  static func isPattern(_ source: String) -> Bool { source.contains { "*?[{".contains($0) } }

  // MARK: Matching

  /// The files that a pattern matches, with names relative like the pattern, and a folder that can't be read.
  private static func matches(
    _ pattern: String, from base: URL?
  ) -> (files: [InputFile], unreadable: InputFile.UnreadableFolder?) {
    let isRelative = DefinitionPath.isRelative(pattern)
    let folder = isRelative ? DefinitionPath.url(".", from: base).path + "/" : ""
    // The home directory is not part of the pattern's text, so none of its characters is a wildcard.
    let (front, rest) =
      pattern.hasPrefix("~/")
      ? (DefinitionPath.url("~", from: nil).path, pattern.dropFirst()) : (String(folder.dropLast()), pattern[...])
    var found = Found()
    // Several in a row mean no more than one, and each would search all folders below again.
    let once = String(rest).replacing(/^(\*\*\/)+/, with: "**/").replacing(/\/(\*\*\/)+/, with: "/**/")
      .replacing(/(\/\*\*)+$/, with: "/**")
    collect((isRelative ? escaped(front) + "/" : escaped(front)) + once, knownBytes: escaped(front).utf8.count, &found)
    let files = found.paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { path in
      var file = InputFile(name: path.hasPrefix(folder) ? String(path.dropFirst(folder.count)) : path, path: path)
      // A name that is not UTF-8 is found with a replacement character, and does not lead to the file.
      file.hasUnreadableName = path.unicodeScalars.contains("\u{FFFD}") && !exists(path)
      return file
    }
    return (files, found.unreadable.min { $0.path < $1.path })
  }

  private struct Found {
    var paths: Set<String> = []
    var unreadable: Set<InputFile.UnreadableFolder> = []
  }

  /// Expands the first `**`, if there is one: in the folder before it and in all below it.
  ///
  /// - Parameter knownBytes: The length of the beginning of the pattern whose folders need no look.
  private static func collect(_ pattern: String, knownBytes: Int, _ found: inout Found) {
    guard let range = pattern.range(of: "/**/") ?? trailing(pattern) else {
      look(atFoldersOf: pattern, from: knownBytes, &found)
      for path in glob(pattern, &found) where !path.hasSuffix("/") { found.paths.insert(path) }
      return
    }
    let front = String(pattern[..<range.lowerBound])
    let rest = String(pattern[range.upperBound...])
    look(atFoldersOf: front, from: knownBytes, &found)
    for folder in front.isEmpty ? ["/"] : glob(front + "/", &found) {
      descend(folder, matching: rest.isEmpty ? "*" : rest, &found)
    }
  }

  /// `logs/**` is everything below `logs`.
  private static func trailing(_ pattern: String) -> Range<String.Index>? {
    pattern.hasSuffix("/**") ? pattern.range(of: "/**", options: .backwards) : nil
  }

  /// `folder` ends in `/`. Links to folders are not followed, so every folder is met once.
  private static func descend(_ folder: String, matching rest: String, _ found: inout Found) {
    var folders = [folder]
    while let folder = folders.popLast() {
      // glob(3) has no room for a name after such a path, and says nothing.
      if folder.utf8.count + Int(NAME_MAX) >= Int(PATH_MAX) {
        found.unreadable.insert(.init(path: folder, code: ENAMETOOLONG))
        continue
      }
      guard let names = look(at: folder, isListed: true, &found) else { continue }
      collect(escaped(folder) + rest, knownBytes: escaped(folder).utf8.count, &found)
      for name in names where !name.hasPrefix(".") {
        if stat.of(folder + name, followingLinks: false)?.type == S_IFDIR { folders.append(folder + name + "/") }
      }
    }
  }

  // MARK: Folders that can't be read

  /// Looks at each folder that a pattern without `**` leads into: glob(3) leaves out what it can't read.
  private static func look(atFoldersOf pattern: String, from knownBytes: Int, _ found: inout Found) {
    var braces = 0
    var index = pattern.utf8.index(pattern.startIndex, offsetBy: knownBytes)
    while index < pattern.endIndex {
      let character = pattern[index]
      let next = pattern.index(after: index)
      if character == "{" { braces += 1 } else if character == "}" { braces -= 1 }
      if character == "/", braces == 0 {
        let name = pattern[next...].prefix { $0 != "/" }
        for folder in glob(pattern[..<index] + "/", &found) where folder.hasSuffix("/") {
          look(at: folder, isListed: name.contains { "*?[".contains($0) }, &found)
        }
      }
      index = character == "\\" && next < pattern.endIndex ? pattern.index(after: next) : next
    }
  }

  /// Adds a folder that can't be searched or, where its names matter, listed.
  ///
  /// - Returns: Its names where they matter; nil if it can't be read.
  @discardableResult
  private static func look(at folder: String, isListed: Bool, _ found: inout Found) -> [String]? {
    do throws(POSIXError) {
      // It may have gone meanwhile.
      if access(folder, X_OK) != 0, errno != ENOENT { throw .last }
      return isListed ? try FolderNames.sorted(in: folder) : []
    } catch {
      found.unreadable.insert(.init(path: folder, code: error.code.rawValue))
      return nil
    }
  }

  /// glob(3); folders end in `/`.
  private static func glob(_ pattern: some StringProtocol, _ found: inout Found) -> [String] {
    var paths = glob_t()
    defer { globfree(&paths) }
    let code = Foundation.glob(String(pattern), GLOB_BRACE | GLOB_MARK | GLOB_NOSORT, nil, &paths)
    // It may have matches.
    if code == GLOB_NOSPACE { found.unreadable.insert(.init(path: String(pattern), code: ENOMEM)) }
    guard code == 0 else { return [] }
    return (0..<Int(paths.gl_pathc)).compactMap { index in paths.gl_pathv[index].map { String(cString: $0) } }
  }

  /// The path as part of a pattern that matches it literally.
  private static func escaped(_ path: String) -> String {
    path.reduce(into: "") { result, character in
      if "*?[]{},\\".contains(character) { result.append("\\") }
      result.append(character)
    }
  }

  private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}

/// An input as the user names it, and its path.
struct InputFile: Sendable {
  let name: String
  /// `-` for standard input.
  let path: String
  /// Set for a file of an inbox.
  var inboxFile: Inbox.File?
  /// The copy that a command has printed: `path` is that of the copy.
  var copy: ReadInput?
  /// A pattern that no file matches: an input that does not exist.
  var isUnmatchedPattern = false
  /// Set for a pattern: a folder that it leads into, and what is in it can't be read.
  var unreadable: UnreadableFolder?
  /// Why a pattern is not expanded.
  var patternProblem: String?
  /// Set for a file whose name is not UTF-8: no path of this program leads to it.
  var hasUnreadableName = false

  /// A folder, and the system's error number.
  struct UnreadableFolder: Hashable {
    let path: String
    let code: Int32
  }

  /// What messages call it: its path, or the name by which a command reads it.
  var shownPath: String { copy == nil ? path : name }

  /// The input as a command has printed it.
  ///
  /// - Parameters:
  ///   - read: Makes the copy, of the input with this name.
  func read(by read: (String) throws(RunFailure) -> ReadInput) throws(RunFailure) -> InputFile {
    if let failure { throw failure }
    let copy = try read(name)
    var file = InputFile(name: name, path: copy.path)
    file.copy = copy
    return file
  }

  /// Whether the whole input can be read more than once: a file, unlike a pipe.
  var isReadTwice: Bool { path != "-" && !InputOpener.isPipe(path) }

  /// The absolute path, by which the file is recognised when its content has changed; nil for a pipe, and for a file of
  /// an inbox, whose name may come again.
  var location: String? {
    if copy != nil { return name }
    guard isReadTwice, inboxFile == nil else { return nil }
    return URL(fileURLWithPath: path).resolvingSymlinksInPath().path
  }

  /// Why it can't be read, where that is known without trying.
  var failure: RunFailure? {
    if let unreadable { return unreadableFailure(unreadable) }
    if hasUnreadableName {
      return RunFailure(
        code: .sourceError, exitCode: .noInput,
        message: "\(name) can't be read: \(Inbox.Reason.unreadableName.rawValue)")
    }
    if let patternProblem {
      return RunFailure(
        code: .sourceError, exitCode: .configuration, message: "the pattern \(RawText.oneLine(name)) \(patternProblem)")
    }
    guard isUnmatchedPattern else { return nil }
    return RunFailure(
      code: .sourceError, exitCode: .noInput,
      message: "no file matches the pattern \(name); check it, or say \"sourceOptional\": true if there may be none")
  }
  private func unreadableFailure(_ folder: UnreadableFolder) -> RunFailure {
    let (exitCode, reason): (ExitCode, String) =
      switch folder.code {
      case ENAMETOOLONG:
        (
          .noInput,
          "the path of \(folder.path) has \(folder.path.utf8.count) bytes, and the system's limit is \(PATH_MAX) with "
            + "a name; move that folder up"
        )
      case ENOMEM: (.temporaryFailure, "the system has no memory for the matches of \(folder.path); try again later")
      case EACCES, EPERM:
        (
          .noPermission,
          "the folder \(folder.path) can't be read: \(systemMessage(folder.code)); let this user read and enter it, "
            + "move it elsewhere"
        )
      default:
        (
          folder.code == EIO ? .ioError : .noInput,
          "the folder \(folder.path) can't be read: \(systemMessage(folder.code)); check the disk"
        )
      }
    return RunFailure(
      code: .sourceError, exitCode: exitCode,
      message: "\(name) can't be expanded: \(reason), or name the folders to read without that one")
  }
}
