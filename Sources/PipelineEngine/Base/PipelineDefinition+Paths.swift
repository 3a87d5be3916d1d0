import Foundation

extension PipelineDefinition {
  /// The store of a run; `nil` where neither the caller nor the definition names one.
  func storeLocation(_ options: RunOptions) -> StoreLocation? {
    let text = options.store.map { StoreAddress.isAddress($0) ? $0 : URL(fileURLWithPath: $0).path }
    return (text ?? store.map(path)).map(StoreLocation.init)
  }

  /// The absolute path for a path of the command line or the definition; an address stays as it is.
  func path(_ path: String) -> String { path == "-" || StoreAddress.isAddress(path) ? path : url(for: path).path }
}
