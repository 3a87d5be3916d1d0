import Foundation

extension PipelineDefinition {
  /// The store of a run; `nil` where neither the caller nor the definition names one.
  func storePath(_ options: RunOptions) -> String? {
    options.store.map { StorePlace.isAddress($0) ? $0 : URL(fileURLWithPath: $0).path } ?? store.map(path)
  }

  /// The absolute path for a path of the command line or the definition; an address stays as it is.
  func path(_ path: String) -> String { path == "-" || StorePlace.isAddress(path) ? path : url(for: path).path }
}
