import CSV
import Foundation
import SystemSupport

/// The progress of a pipeline's incremental exports. It is stored next to their outputs, because the store is only
/// read.
///
/// An entry is new when its primary key is greater than any that was written before: stores allocate keys in ascending
/// order and never twice. A changed entry keeps its key, and so is not written again.
struct ExportMark: Sendable, Hashable, Codable {
  var formatVersion = 1
  var pipeline: String
  /// The store's UUID.
  var store: String
  var entity: String
  /// The highest primary key that was written.
  var greatestKey: Int64
  /// Number of entries of the last export that wrote any.
  var exported: Int
  /// The start of that export.
  var exportedAt: Date

  /// A mark has a few hundred bytes and the name of a pipeline.
  private static let bytesMax = 1 << 20

  /// The mark in the file, nil if there is none yet.
  ///
  /// - Throws: 74 where it can't be read, 65 where it is not a mark.
  static func read(_ path: String) throws(RunFailure) -> ExportMark? {
    let data: Data
    do throws(RegularFileError) {
      data = Data(try RegularFile.read(path, bytesMax: bytesMax))
    } catch {
      if error.code == ENOENT { return nil }
      if case .otherKind = error { throw RunFailure(path, "can't be the mark of earlier exports", for: error) }
      throw RunFailure(
        code: nil, exitCode: .ioError,
        message: "the mark of earlier exports can't be read: \(error.reason); "
          + "check the permissions of \(path)")
    }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    guard let mark = try? decoder.decode(ExportMark.self, from: data), mark.formatVersion == 1 else {
      throw RunFailure(
        code: nil, exitCode: .dataError,
        message: "\(path) is not a mark of earlier exports, or was changed; restore it, or remove it to export "
          + "everything")
    }
    return mark
  }

  /// Checks that the store, pipeline and entity of an export are those of the mark; `lastKey` is the highest primary
  /// key that the store has ever allocated.
  ///
  /// - Throws: 65 with what differs.
  func check(pipeline: String, store: String, entity: String, lastKey: Int64, path: String) throws(RunFailure) {
    let reason: String
    if self.store != store {
      reason = "it is of another store, \(self.store), and this one is \(store)"
    } else if self.entity != entity {
      reason = "it counts the entity \(self.entity), and this pipeline exports \(entity)"
    } else if self.pipeline != pipeline {
      reason = "it is of the pipeline '\(self.pipeline)', and this one is '\(pipeline)'"
    } else if lastKey < greatestKey {
      reason = "entry \(greatestKey) was exported, and the store has given no key above \(lastKey): it is an older copy"
    } else {
      return
    }
    throw RunFailure(
      code: nil, exitCode: .dataError,
      message: "the mark \(path) does not match: \(reason). Export to another output, or remove the mark to export "
        + "everything again")
  }

  /// The file appears complete or not at all.
  func write(_ path: String, permissions: UInt32) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    let sink = try ByteSink(path: path, permissions: permissions)
    try sink.write(Array(try encoder.encode(self) + Data("\n".utf8)))
    try sink.commit()
  }
}
