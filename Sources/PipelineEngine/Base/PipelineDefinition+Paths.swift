import Foundation

extension PipelineDefinition {
  /// The store of a run; `nil` where neither the caller nor the definition names one.
  func storePath(_ options: RunOptions) -> String? {
    options.store.map { URL(fileURLWithPath: $0).path } ?? store.map(path)
  }

  /// A path as the command line or the file gives it, made a file's place.
  func path(_ path: String) -> String { path == "-" ? path : url(for: path).path }
}
