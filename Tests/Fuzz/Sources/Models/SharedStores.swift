import Foundation

/// Stores and models of Apple's framework, read at run time from the folder that SURFJOURNAL_SHARED names.
enum SharedStores {
  static var areThere: Bool { !stores.isEmpty }
  static let compiledModels = files { $0.pathExtension == "mom" }
  static let stores = files { $0.pathExtension == "sqlite" }

  private static func files(_ isWanted: (URL) -> Bool) -> [Data] {
    guard let folder = ProcessInfo.processInfo.environment["SURFJOURNAL_SHARED"] else { return [] }
    let stores = URL(fileURLWithPath: folder, isDirectory: true).appendingPathComponent("stores")
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: stores.path)) ?? []
    return names.sorted().map { stores.appendingPathComponent($0) }.filter(isWanted).compactMap {
      try? Data(contentsOf: $0)
    }
  }
}
