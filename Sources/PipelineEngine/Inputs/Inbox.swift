import CSV
import Foundation
import SystemSupport

/// A folder in which files arrive: which of them are complete, and where they are moved afterwards.
struct Inbox: Sendable {
  /// The folder's path.
  let folder: String
  let processed: String
  let failed: String
  let patterns: [String]
  let settleSeconds: Double
  /// Whether the file with a path is one of the pipeline itself, which is never an input.
  var isOwn: @Sendable (_ path: String) -> Bool = { _ in false }
  /// Whether the file with a path has rejects of an import, which only a replay takes.
  var isOfRejects: @Sendable (_ path: String) -> Bool = { _ in false }
  /// The clock that the files' times are compared with.
  var now: @Sendable () -> Date = { Date() }
  /// Waits between two checks of the same files.
  var pause: @Sendable (_ seconds: Double) -> Void = { Thread.sleep(forTimeInterval: $0) }

  /// The inbox of a definition, whose paths are relative to its file; those of `processed` and `failed` to the inbox.
  init(_ inbox: InboxDefinition, in definition: PipelineDefinition) {
    folder = definition.url(for: inbox.folder).path
    var inside = definition
    inside.baseDirectory = URL(fileURLWithPath: folder, isDirectory: true)
    processed = inside.url(for: inbox.processed).path
    failed = inside.url(for: inbox.failed).path
    patterns = inbox.pattern
    settleSeconds = inbox.settleSeconds
  }

  /// A file that is ready, as it was when it was checked.
  struct File: Sendable, Equatable {
    let name: String
    let path: String
    /// The file that the name leads to.
    let identity: FileIdentity
  }

  /// The result of one listing.
  struct Listing: Sendable, Equatable {
    /// The oldest first; those of equal age by name.
    var ready: [File] = []
    /// By name.
    var leftAlone: [LeftAlone] = []
  }

  /// Something in the folder that is not an input, or not yet.
  struct LeftAlone: Sendable, Equatable {
    let name: String
    let reason: Reason
  }

  enum Reason: String, Sendable, CaseIterable {
    case hidden = "its name begins with a dot"
    case temporary = "its name is that of a file still being written"
    case unmatched = "its name matches none of the inbox's patterns"
    case folder = "it is a folder"
    case special = "it is not a regular file"
    case brokenLink = "it is a link that leads nowhere"
    case linkOfOther = "it is a link of another user in a folder that everyone may write to; copy the file instead"
    case unsettled = "it was changed a moment ago"
    case growing = "it is being written to"
    case unreadableName = "its name is not UTF-8; rename the file"
    case rejects = "it has records that an import rejected, or what was found in them; import it with 'replay'"

    /// Whether the file will be an input when it is complete.
    var isExpected: Bool { [.temporary, .unsettled, .growing].contains(self) }

    /// Whether a person who waits for the file needs to know; the others are never inputs.
    var isWorthTelling: Bool {
      switch self {
      case .hidden, .unmatched, .folder: false
      case .temporary, .special, .brokenLink, .linkOfOther, .unsettled, .growing, .unreadableName, .rejects: true
      }
    }
  }

  private static let temporaryEndings = [".part", ".tmp", ".crdownload", "~"]
  /// Between two checks of a file whose age is uncertain.
  private static let secondsBetweenLooksMax = 1.0

  /// What a report says of files that are left for a later run.
  func note(ofWaiting count: Int) -> String {
    let files = count == 1 ? "1 file of the inbox waits" : "\(count) files of the inbox wait"
    let fresh = settleSeconds > 0 ? "was changed less than \(QuantityPattern.plain(settleSeconds)) seconds ago or " : ""
    return "\(files) for a later run: \(count == 1 ? "it" : "each") \(fresh)is still being written"
  }

  // MARK: Listing

  /// Checks every file of the folder but the pipeline's own, which are not listed. A file whose modification time may not
  /// be that of the last write, such as a copy that keeps times, is checked twice, up to a second apart.
  ///
  /// - Throws: 66 where there is no such folder, 77 where it may not be read.
  func list() throws(RunFailure) -> Listing {
    var listing = Listing()
    var doubtful: [File] = []
    var isAnyNotUTF8 = false
    for name in try names() where !isOwn("\(folder)/\(name)") {
      switch try look(at: name) {
      case .ready(let file, _) where isOfRejects(file.path):
        listing.leftAlone.append(LeftAlone(name: name, reason: .rejects))
      case .ready(let file, let isCertain): isCertain ? listing.ready.append(file) : doubtful.append(file)
      case .leftAlone(.unreadableName): isAnyNotUTF8 = true
      case .leftAlone(let reason): listing.leftAlone.append(LeftAlone(name: name, reason: reason))
      case .gone: break
      }
    }
    if isAnyNotUTF8 {
      for name in try names(FolderNames.notUTF8) where !name.hasPrefix(".") {
        listing.leftAlone.append(LeftAlone(name: name, reason: reason(ofNotUTF8: name)))
      }
    }
    if !doubtful.isEmpty { pause(min(settleSeconds, Self.secondsBetweenLooksMax)) }
    for file in doubtful {
      // One that is gone by now was not an input.
      guard let status = try RunFailure.status(of: file.path) else { continue }
      if FileIdentity(status) == file.identity {
        listing.ready.append(file)
      } else {
        listing.leftAlone.append(LeftAlone(name: file.name, reason: .growing))
      }
    }
    listing.ready.sort { Self.order($0) < Self.order($1) }
    listing.leftAlone.sort { $0.name < $1.name }
    return listing
  }

  private static func order(_ file: File) -> (Int, Int, String) {
    (file.identity.modifiedSeconds, file.identity.modifiedNanoseconds, file.name)
  }

  private func reason(ofNotUTF8 name: String) -> Reason {
    if Self.temporaryEndings.contains(where: name.hasSuffix) { return .temporary }
    return takes(name) ? .unreadableName : .unmatched
  }

  private func names(
    _ list: (String) throws(POSIXError) -> [String] = FolderNames.sorted
  ) throws(RunFailure) -> [String] {
    do throws(POSIXError) {
      let names = try list(folder)
      if names.isEmpty, stat.of(folder)?.type != S_IFDIR { throw POSIXError(errno) }
      return names
    } catch {
      let (exitCode, reason): (ExitCode, String) =
        switch error.code {
        case .ENOENT, .ENOTDIR: (.noInput, "the folder does not exist; make it")
        case .EACCES, .EPERM: (.noPermission, "permission denied; check its permissions")
        default: (.ioError, "\(systemMessage(error.code.rawValue)); check the disk")
        }
      throw RunFailure(code: .sourceError, exitCode: exitCode, message: "the inbox \(folder) can't be read: \(reason)")
    }
  }

  /// Whether a name matches one of the patterns.
  func takes(_ name: String) -> Bool { patterns.contains { fnmatch($0, name, 0) == 0 } }

  private enum Look {
    case ready(File, isCertain: Bool)
    case leftAlone(Reason)
    case gone
  }

  private func look(at name: String) throws(RunFailure) -> Look {
    if name.hasPrefix(".") { return .leftAlone(.hidden) }
    let path = "\(folder)/\(name)"
    guard let own = try RunFailure.status(of: path, followingLinks: false) else {
      // A name that is not UTF-8 is listed with a replacement character, and does not lead to the file.
      return name.unicodeScalars.contains("\u{FFFD}") ? .leftAlone(.unreadableName) : .gone
    }
    // It could lead to a file that its owner may not read, and rejects and reports would show what is in it.
    if own.type == S_IFLNK, OutputFile.isOfOther(own, in: folder) { return .leftAlone(.linkOfOther) }
    guard let status = own.type == S_IFLNK ? try target(of: path) : own else { return .leftAlone(.brokenLink) }
    if status.type == S_IFDIR { return .leftAlone(.folder) }
    if Self.temporaryEndings.contains(where: name.hasSuffix) { return .leftAlone(.temporary) }
    guard takes(name) else { return .leftAlone(.unmatched) }
    if status.type != S_IFREG { return .leftAlone(.special) }
    let file = File(name: name, path: path, identity: FileIdentity(status))
    let age = age(status.st_mtim)
    // A time shortly in the future counts as now: the clock that set it is ahead.
    if abs(age) < settleSeconds { return .leftAlone(.unsettled) }
    // A time further in the future means nothing. The time of the last status change, which can't be set, is more
    // reliable.
    let isCertain = settleSeconds == 0 || age >= 0 && Self.age(status.st_ctim, at: now()) >= settleSeconds
    return .ready(file, isCertain: isCertain)
  }

  /// The status of the file that a link leads to; nil where this user can't follow it.
  private func target(of link: String) throws(RunFailure) -> stat? {
    do throws(RunFailure) {
      return try RunFailure.status(of: link)
    } catch {
      if error.exitCode == .noPermission { return nil }
      throw error
    }
  }

  private func age(_ time: timespec) -> Double { Self.age(time, at: now()) }

  private static func age(_ time: timespec, at now: Date) -> Double {
    now.timeIntervalSince1970 - Double(time.tv_sec) - Double(time.tv_nsec) / 1e9
  }
}
