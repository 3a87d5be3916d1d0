import Foundation

/// The files that a disk may hold after a power cut.
///
/// Bytes that were not synced are there, missing, or zeros, in pieces of 512 bytes and in any order. Names are kept in their order,
/// as file systems with a journal do: a sync of a folder brings all earlier changes of names to the disk, and of the
/// later ones an arbitrary number from the beginning is there. A sync of a file keeps its bytes, not its name.
package struct PowerCut {
  private struct File {
    var synced: [UInt8] = []
    var later: [Piece] = []
    /// When it was written last, before the run.
    var modified: Date?
    var isChanged = false
  }

  private enum Piece {
    case write(offset: Int, bytes: [UInt8])
    case resize(length: Int)
  }

  private enum NameChange {
    case file(path: String, id: Int)
    case rename(from: String, to: String)
    case link(from: String, to: String)
    case remove(path: String)
    case folder(path: String)
  }

  private var files: [File] = []
  private var idOfInode: [UInt64: Int] = [:]
  private var names: [NameChange] = []
  private var syncedNames = 0
  private let begin: [String: Int]
  private let beginFolders: [String]

  /// The files of a folder, all of which are on the disk.
  package init(of folder: TemporaryFolder) throws {
    var begin: [String: Int] = [:]
    var folders: [String] = []
    let manager = FileManager.default
    for name in try manager.subpathsOfDirectory(atPath: folder.url.path).sorted() {
      let attributes = try manager.attributesOfItem(atPath: folder.path(name))
      guard attributes[.type] as? FileAttributeType == .typeRegular else {
        folders.append(name)
        continue
      }
      begin[name] = files.count
      idOfInode[(attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0] = files.count
      let modified = attributes[.modificationDate] as? Date
      files.append(File(synced: [UInt8](try folder.data(name)), modified: modified))
    }
    self.begin = begin
    beginFolders = folders
  }

  /// Takes in what the program did next.
  package mutating func add(_ change: RecordedChange) {
    switch change {
    case .create(let path, let inode):
      idOfInode[inode] = files.count
      names.append(.file(path: path, id: files.count))
      files.append(File())
    case .write(let inode, let offset, let bytes): addPiece(.write(offset: offset, bytes: bytes), inode)
    case .resize(let inode, let length): addPiece(.resize(length: length), inode)
    case .sync(_, let inode):
      guard let id = idOfInode[inode] else {
        syncedNames = names.count
        return
      }
      for piece in files[id].later { Self.apply(piece, to: &files[id].synced) }
      files[id].later = []
    case .rename(let from, let to): names.append(.rename(from: from, to: to))
    case .link(let from, let to): names.append(.link(from: from, to: to))
    case .unlink(let path), .removeFolder(let path): names.append(.remove(path: path))
    case .makeFolder(let path): names.append(.folder(path: path))
    }
  }

  private mutating func addPiece(_ piece: Piece, _ inode: UInt64) {
    guard let id = idOfInode[inode] else { return }
    files[id].later.append(piece)
    files[id].isChanged = true
  }

  private static func apply(_ piece: Piece, to bytes: inout [UInt8]) {
    switch piece {
    case .resize(let length):
      bytes.removeLast(max(0, bytes.count - length))
      bytes.append(contentsOf: repeatElement(0, count: length - bytes.count))
    case .write(let offset, let written):
      let end = offset + written.count
      if bytes.count < end { bytes.append(contentsOf: repeatElement(0, count: end - bytes.count)) }
      bytes.replaceSubrange(offset..<end, with: written)
    }
  }

  // MARK: Images

  /// How much of what was not synced an image has.
  package enum Rest: CaseIterable, Sendable {
    case nothing, everything, some
    /// All of it of some files, and none of it of the others.
    case someFiles
  }

  /// Writes an image into an empty folder.
  package func write(
    to folder: TemporaryFolder, _ rest: Rest, using random: inout SeededGenerator
  ) throws {
    let later = names.count - syncedNames
    let kept =
      switch rest {
      case .nothing: 0
      case .everything: later
      case .some, .someFiles: Int.random(in: 0...later, using: &random)
      }
    let (paths, folders) = namesAfter(syncedNames + kept)
    for path in folders.sorted() { try folder.makeFolder(path) }
    // In a fixed order, so that a seed makes the same image again.
    for (path, id) in paths.sorted(by: { $0.key < $1.key }) {
      let isThere = rest == .someFiles && Bool.random(using: &random)
      let rest = rest == .someFiles ? (isThere ? .everything : .nothing) : rest
      try Data(content(of: files[id], rest, using: &random)).write(to: folder.file(path))
      if !files[id].isChanged, let modified = files[id].modified {
        try FileManager.default.setAttributes([.modificationDate: modified], ofItemAtPath: folder.path(path))
      }
    }
  }

  private func content(of file: File, _ rest: Rest, using random: inout SeededGenerator) -> [UInt8] {
    var bytes = file.synced
    guard rest != .nothing else { return bytes }
    for piece in file.later {
      guard rest == .some else {
        Self.apply(piece, to: &bytes)
        continue
      }
      guard case .write(let offset, let written) = piece else {
        if Bool.random(using: &random) { Self.apply(piece, to: &bytes) }
        continue
      }
      for start in stride(from: 0, to: written.count, by: 512) {
        let part = written[start..<min(start + 512, written.count)]
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1: Self.apply(.write(offset: offset + start, bytes: Array(part)), to: &bytes)
        // The length without the bytes.
        case 2: Self.apply(.resize(length: max(bytes.count, offset + start + part.count)), to: &bytes)
        default: break
        }
      }
    }
    return bytes
  }

  private func namesAfter(_ count: Int) -> (paths: [String: Int], folders: Set<String>) {
    var paths = begin
    var folders = Set(beginFolders)
    for change in names.prefix(count) {
      switch change {
      case .file(let path, let id): paths[path] = id
      case .folder(let path): folders.insert(path)
      case .link(let from, let to): paths[to] = paths[from]
      case .remove(let path):
        paths[path] = nil
        folders.remove(path)
      case .rename(let from, let to):
        Self.move(from, to: to, in: &paths)
        if folders.remove(from) != nil { folders.insert(to) }
        for path in folders where path.hasPrefix(from + "/") {
          folders.remove(path)
          folders.insert(to + path.dropFirst(from.count))
        }
      }
    }
    return (paths, folders)
  }

  private static func move(_ from: String, to: String, in paths: inout [String: Int]) {
    if let id = paths.removeValue(forKey: from) { paths[to] = id }
    for (path, id) in paths where path.hasPrefix(from + "/") {
      paths[path] = nil
      paths[to + path.dropFirst(from.count)] = id
    }
  }
}
