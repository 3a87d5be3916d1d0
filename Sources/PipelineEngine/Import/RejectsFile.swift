import CSV
import Foundation

/// The records of one input that could not be imported, as their original bytes under the input's own header.
///
/// The file is made at the first reject and appears under its name when the input is done.
struct RejectsFile {
  let path: String
  private let header: [UInt8]
  private var sink: ByteSink?
  private(set) var count = 0
  /// Set while what was written last has no line end: of a record over the limits only the front is known.
  private var needsLineEnd = false

  init(path: String, header: [UInt8]) {
    self.path = path
    self.header = header
  }

  mutating func append(_ bytes: ArraySlice<UInt8>) throws(CSVError) {
    if sink == nil {
      let made = try ByteSink(path: path)
      try made.write(header)
      if let last = header.last, last != 0x0A, last != 0x0D { try made.write("\n") }
      sink = made
    }
    if needsLineEnd { try sink?.write("\n") }
    try sink?.write(bytes)
    needsLineEnd = bytes.last != 0x0A && bytes.last != 0x0D
    count += 1
  }

  mutating func commit() throws(CSVError) {
    try sink?.commit()
    sink = nil
  }

  /// Where the rejects of each input go: the caller's or the definition's place; else beside the report; else beside
  /// the store. A place that ends in `/` or is a folder gets a file named after the input; inputs of one name get
  /// numbers.
  static func paths(
    for inputs: [String], _ definition: PipelineDefinition, _ options: RunOptions, store: String?
  ) -> [String?] {
    var folder: String
    if let wish = wish(definition, options) {
      guard isFolder(wish) else { return inputs.map { _ in wish } }
      folder = wish
    } else if let neighbour = ReportFiles.paths(definition, options).first ?? store {
      folder = OutputPlace.folder(of: neighbour)
    } else {
      return inputs.map { _ in nil }
    }
    if !folder.hasSuffix("/") { folder += "/" }
    var timesUsed: [String: Int] = [:]
    return inputs.map { input in
      let name = RunSummary.rejectsName(for: input)
      timesUsed[name, default: 0] += 1
      return folder + (timesUsed[name] == 1 ? name : "\(timesUsed[name] ?? 0).\(name)")
    }
  }

  /// The place that the caller or the definition asks for.
  static func wish(_ definition: PipelineDefinition, _ options: RunOptions) -> String? {
    let wish = options.rejects ?? definition.rejects
    let path = options.rejects.map { URL(fileURLWithPath: $0).path } ?? definition.rejects.map(definition.path)
    guard let wish, let path else { return nil }
    return wish.hasSuffix("/") && !path.hasSuffix("/") ? path + "/" : path
  }

  static func isFolder(_ path: String) -> Bool {
    if path.hasSuffix("/") { return true }
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}
