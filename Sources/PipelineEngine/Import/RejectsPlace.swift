import Foundation

/// Where the rejects of a run's inputs go.
enum RejectsPlace {
  /// For each input: the caller's or the definition's place; else beside the report; else beside the store. A place that ends in `/` or is a folder gets a file named after the input; inputs of one name get
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

  /// The place, or the next one with a number where rejects lie there already: those of an earlier run, or the
  /// unfinished ones of another input.
  static func free(_ path: String, taken: Set<String>) -> String {
    let url = URL(fileURLWithPath: path)
    let (stem, ending) = (url.deletingPathExtension().path, url.pathExtension)
    var candidate = path
    var number = 1
    while taken.contains(candidate) || FileManager.default.fileExists(atPath: candidate) {
      number += 1
      candidate = "\(stem).\(number)" + (ending.isEmpty ? "" : ".\(ending)")
    }
    return candidate
  }
}
