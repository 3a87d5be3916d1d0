import Foundation

/// The folders that a definition's own output goes to: those of its report, rejects and log whose paths are relative to
/// the definition. A run makes the missing ones, so that it does not fail in the first night that has rejects.
///
/// A path of the command line and an absolute one may be mistyped or be on a disk that is not mounted; their folders
/// have to exist.
enum OwnFolders {
  /// Makes the missing ones. What can't be made is reported when the file is opened.
  static func make(of definition: PipelineDefinition, _ options: RunOptions) {
    for folder in paths(of: definition, options) {
      try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
  }

  /// Their absolute paths.
  static func paths(of definition: PipelineDefinition, _ options: RunOptions) -> [String] {
    var files = options.reports == nil ? definition.report : []
    if options.rejects == nil, let rejects = definition.rejects { files.append(rejects) }
    if options.logFile == nil, let log = definition.log?.file { files.append(log) }
    return files.filter(isRelative).map { file in
      file.hasSuffix("/") ? definition.path(file) : OutputPath.folder(of: definition.path(file))
    }
  }

  /// Whether a path of a definition is relative to it.
  static func isRelative(_ path: String) -> Bool { path != "-" && !path.hasPrefix("/") && !path.hasPrefix("~") }
}
