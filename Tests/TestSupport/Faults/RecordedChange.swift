import Foundation

/// A change of a file or folder as the shim recorded it, in the order in which the program made it.
package enum RecordedChange: Sendable {
  case create(path: String, inode: UInt64)
  case write(inode: UInt64, offset: Int, bytes: [UInt8])
  case resize(inode: UInt64, length: Int)
  case sync(path: String, inode: UInt64)
  case rename(from: String, to: String)
  case link(from: String, to: String)
  case unlink(path: String)
  case makeFolder(path: String)
  case removeFolder(path: String)

  /// Reads a file of events, whose layout is `struct shim_event`. Paths are relative to `folder`.
  package static func changes(in record: Data, below folder: String) throws -> [RecordedChange] {
    var rest = [UInt8](record)[...]
    var changes: [RecordedChange] = []
    while !rest.isEmpty {
      let head = (0..<6).map { index in
        rest.dropFirst(8 * index).prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      }
      rest = rest.dropFirst(48)
      var texts: [String] = []
      for length in head[3...4] {
        texts.append(relative(String(decoding: rest.prefix(Int(length)), as: UTF8.self), folder))
        rest = rest.dropFirst(Int(length))
      }
      let bytes = Array(rest.prefix(Int(head[5])))
      rest = rest.dropFirst(Int(head[5]))
      changes.append(try change(head, paths: texts, bytes: bytes))
    }
    return changes
  }

  private static func change(_ head: [UInt64], paths: [String], bytes: [UInt8]) throws -> RecordedChange {
    let inode = head[1]
    let offset = Int(head[2])
    switch head[0] {
    case 0: return .create(path: paths[0], inode: inode)
    case 1: return .write(inode: inode, offset: offset, bytes: bytes)
    case 2: return .resize(inode: inode, length: offset)
    case 3: return .sync(path: paths[0], inode: inode)
    case 4: return .rename(from: paths[0], to: paths[1])
    case 5: return .unlink(path: paths[0])
    case 6: return .makeFolder(path: paths[0])
    case 7: return .removeFolder(path: paths[0])
    case 8: return .link(from: paths[0], to: paths[1])
    default: throw ProgramFailure(description: "The shim recorded an unknown change, \(head[0]).")
    }
  }

  private static func relative(_ path: String, _ folder: String) -> String {
    guard path.hasPrefix(folder) else { return path }
    return String(path.dropFirst(folder.count).drop { $0 == "/" })
  }
}
