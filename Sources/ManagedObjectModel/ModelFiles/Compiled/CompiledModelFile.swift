import Foundation
import SystemSupport

/// Compiled models on disk: a `.mom` for each version, and a `.momd` with all versions and VersionInfo.plist.
enum CompiledModelFile {
  static func load(_ file: URL) throws -> (model: NSManagedObjectModel, notes: [String]) {
    let data = try ModelPackage.contents(of: file, "The compiled model can't be read.")
    let compiled: CompiledModel
    do {
      compiled = try CompiledModel(archive: data)
    } catch {
      throw ModelFileError(
        file: file, line: nil, problem: "This is not a compiled model: \(error).",
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
    let versions = try ModelPackage.versions(of: package)
    guard !versions.isEmpty else {
      throw error(
        in: package, "It contains no .mom.",
        advice: "Copy the whole .momd; an .omo in it is Apple's private format, which only Apple's framework reads.")
    }
    let pointer = package.appendingPathComponent(infoName)
    guard mayExist(pointer.path) else {
      if versions.count == 1, let single = versions.first { return single }
      throw error(
        in: package, "It has \(versions.count) versions and no \(infoName), which names the current one.",
        advice: "Copy the whole .momd, or give one .mom.")
    }
    guard let name = try versionInfo(of: package).currentVersionName else {
      throw error(
        in: pointer, "It does not name a current version.",
        advice: "Make it a property list with the key \(currentVersionKey), or give one .mom.")
    }
    guard let version = versions.first(where: { $0.lastPathComponent == "\(name).mom" }) else {
      throw error(
        in: pointer, "It names the version '\(name)', but has no .mom of it.",
        advice: "Copy the whole .momd, or give one of: \(versions.map(\.lastPathComponent).joined(separator: ", ")).")
    }
    return version
  }

  /// The hashes that a `.momd` states, by version name and entity name; empty if there are none.
  static func statedHashes(in package: URL) -> [String: [String: Data]] {
    (try? versionInfo(of: package).hashes) ?? [:]
  }

  /// The error for an `.omo`.
  static func optimized(_ file: URL) -> NSError {
    error(
      in: file, "This is Apple's private format, for one version of its framework only.",
      advice: "Give the .mom next to it, or the .momd that contains both.")
  }

  private static let infoName = "VersionInfo.plist"
  private static let currentVersionKey = "NSManagedObjectModel_CurrentVersionName"
  private static let hashesKey = "NSManagedObjectModel_VersionHashes"

  private static func versionInfo(of package: URL) throws -> (
    currentVersionName: String?, hashes: [String: [String: Data]]
  ) {
    let file = package.appendingPathComponent(infoName)
    let data = try ModelPackage.contents(of: file, "It can't be read.")
    let list: [String: Any]
    do {
      list = try PropertyListData.dictionary(data)
    } catch {
      throw Self.error(
        in: file, "This is not a usable property list: \(error).", advice: "Copy the .momd again, or give one .mom.")
    }
    let hashes = (list[hashesKey] as? [String: Any] ?? [:]).compactMapValues { $0 as? [String: Data] }
    return (list[currentVersionKey] as? String, hashes)
  }

  private static func error(in file: URL, _ problem: String, advice: String) -> NSError {
    ModelFileError(file: file, line: nil, problem: problem, advice: advice).nsError
  }
}
