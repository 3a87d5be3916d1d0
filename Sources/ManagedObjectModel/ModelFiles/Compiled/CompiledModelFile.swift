import Foundation

/// Compiled models on disk: a `.mom` for each version, and a `.momd` with all versions and VersionInfo.plist.
enum CompiledModelFile {
  static func load(_ file: URL) throws -> (model: NSManagedObjectModel, notes: [String]) {
    guard let data = FileManager.default.contents(atPath: file.path) else {
      throw ModelFile.missing(file, "The compiled model can't be read.", "Check that the file is there and readable.")
    }
    let compiled: CompiledModel
    do {
      compiled = try CompiledModel(archive: data)
    } catch {
      throw ModelFileError(
        file: file, line: nil, problem: "This is no compiled model: \(error).",
        advice: "Copy it out of the app again, or give the .xcdatamodeld that it was compiled from."
      ).nsError
    }
    let package = file.deletingLastPathComponent()
    // A version alone, or next to a damaged plist, is still a model: its hashes are then computed.
    if package.pathExtension == "momd", let info = try? versionInfo(of: package) {
      compiled.stateVersionHashes(info.hashes[file.deletingPathExtension().lastPathComponent] ?? [:])
    }
    compiled.model.sourceFiles = [file]
    return (compiled.model, compiled.notes)
  }

  static func currentVersion(of package: URL) throws -> URL {
    let versions = try ModelFile.versions(of: package)
    guard !versions.isEmpty else {
      throw error(
        package, "It holds no .mom.",
        "Copy the .momd whole; an .omo in it is a private form of Apple's that only Apple's framework reads.")
    }
    let pointer = package.appendingPathComponent(infoName)
    guard FileManager.default.fileExists(atPath: pointer.path) else {
      if versions.count == 1, let single = versions.first { return single }
      throw error(
        package, "It has \(versions.count) versions and no \(infoName), which names the current one.",
        "Copy the .momd whole, or give one .mom.")
    }
    guard let name = try versionInfo(of: package).currentVersionName else {
      throw error(
        pointer, "It does not name a current version.",
        "Make it a property list with the key \(currentVersionKey), or give one .mom.")
    }
    guard let version = versions.first(where: { $0.lastPathComponent == "\(name).mom" }) else {
      throw error(
        pointer, "It names the version '\(name)', of which there is no .mom.",
        "Copy the .momd whole, or give one of: \(versions.map(\.lastPathComponent).joined(separator: ", ")).")
    }
    return version
  }

  /// The error for an `.omo`.
  static func optimized(_ file: URL) -> NSError {
    error(
      file, "This is a private form of Apple's, for one version of its framework only.",
      "Give the .mom beside it, or the .momd that both lie in.")
  }

  private static let infoName = "VersionInfo.plist"
  private static let currentVersionKey = "NSManagedObjectModel_CurrentVersionName"
  private static let hashesKey = "NSManagedObjectModel_VersionHashes"

  private static func versionInfo(of package: URL) throws -> (
    currentVersionName: String?, hashes: [String: [String: Data]]
  ) {
    let file = package.appendingPathComponent(infoName)
    guard let data = FileManager.default.contents(atPath: file.path) else {
      throw ModelFile.missing(file, "It can't be read.", "Check that the file is there and readable.")
    }
    guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any] else {
      throw error(file, "This is no property list.", "Copy the .momd again, or give one .mom.")
    }
    let hashes = (list[hashesKey] as? [String: Any] ?? [:]).compactMapValues { $0 as? [String: Data] }
    return (list[currentVersionKey] as? String, hashes)
  }

  private static func error(_ file: URL, _ problem: String, _ advice: String) -> NSError {
    ModelFileError(file: file, line: nil, problem: problem, advice: advice).nsError
  }
}
