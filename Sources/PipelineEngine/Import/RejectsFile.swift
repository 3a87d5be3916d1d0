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
    try sink?.write(bytes)
    count += 1
  }

  mutating func commit() throws(CSVError) {
    try sink?.commit()
    sink = nil
  }

  /// Where the rejects of `input` go: the caller's or the definition's place; else beside the report; else beside
  /// the store. A place that ends in `/` or is a folder gets a file named after the input.
  static func path(
    for input: String, _ definition: PipelineDefinition, _ options: RunOptions, store: String?
  ) -> String? {
    let name = RunSummary.rejectsName(for: input)
    guard let wish = options.rejects.map({ URL(fileURLWithPath: $0).path + ($0.hasSuffix("/") ? "/" : "") })
      ?? definition.rejects.map({ definition.path($0) + ($0.hasSuffix("/") ? "/" : "") })
    else {
      let neighbour = definition.report.first.map(definition.path) ?? store
      return neighbour.map { URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent(name).path }
    }
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: wish, isDirectory: &isFolder)
    return wish.hasSuffix("/") || (exists && isFolder.boolValue)
      ? URL(fileURLWithPath: wish, isDirectory: true).appendingPathComponent(name).path : wish
  }
}
