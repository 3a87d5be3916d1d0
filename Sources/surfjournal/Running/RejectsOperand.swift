import Foundation
import SystemSupport
import PipelineEngine

/// The files of rejects that an operand of 'replay' names.
struct RejectsOperand {
  let files: [String]

  /// - Parameter operand: A file of rejects; a folder, for the files in it that have details next to them; or a store,
  ///   for those that wait for a correction.
  init(_ operand: String) throws(CommandFailure) {
    if Self.isFolder(operand) {
      files = try Self.files(inFolder: operand)
    } else if Self.isStore(operand) {
      do throws(LedgerAccessError) {
        files = try LedgerHistory(store: operand, vocabulary: .journal).waitingRejects
      } catch {
        throw CommandFailure(error.description, error.exitCode)
      }
    } else {
      files = [operand]
    }
  }

  private static func isFolder(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
  }

  /// Whether it is an address, or a file that begins as SQLite's do; false for one that can't be read.
  static func isStore(_ path: String) -> Bool {
    if StoreAddress.isAddress(path) { return true }
    let signature = Array("SQLite format 3\0".utf8)
    return (try? RegularFile.read(path, bytesMax: signature.count)) == signature
  }

  private static func files(inFolder path: String) throws(CommandFailure) -> [String] {
    let names: Set<String>
    do {
      names = Set(try FileManager.default.contentsOfDirectory(atPath: path))
    } catch {
      throw CommandFailure("\(path) can't be read; check the permissions of the folder", .noPermission)
    }
    let folder = path.hasSuffix("/") ? path : path + "/"
    // Rejects of JSON Lines have the ending of details themselves.
    let isDetails = { (name: String) in name.hasSuffix(".jsonl") && names.contains(String(name.dropLast(6))) }
    let isRest = { (name: String) in name.hasSuffix(".next") || name.hasSuffix(".next.jsonl") }
    let whole = names.filter { names.contains($0 + ".jsonl") && !isDetails($0) && !isRest($0) }
    // What an interrupted replay has left belongs to the file that was replayed.
    let interrupted = names.filter(isRest).map { name in
      String((name.hasSuffix(".jsonl") ? name.dropLast(6) : Substring(name)).dropLast(5))
    }
    return whole.union(interrupted).sorted().map { folder + $0 }
  }
}
