import Foundation
import SystemSupport

/// Finds and reads models on disk, both Xcode's sources and compiled models.
package enum ModelFile {
  /// All versions in an `.xcdatamodeld` or a `.momd`, sorted by name.
  package static func versions(of folder: URL) throws -> [URL] { try ModelPackage.versions(of: folder) }

  /// The current version that an `.xcdatamodeld` or a `.momd` names.
  package static func currentVersion(of package: URL) throws -> URL {
    package.pathExtension == "momd"
      ? try CompiledModelFile.currentVersion(of: package) : try sourceVersion(of: package)
  }

  /// The versions of the model at `url`: the file itself unless it is a package of several.
  package static func versions(at url: URL) throws -> [URL] {
    try checkIsThere(url)
    return ModelPackage.isPackage(url) ? try versions(of: url) : [url]
  }

  /// The versions of the model at `url` that may be the model of a store with these hashes: the current one, then the
  /// others by name.
  ///
  /// A `.momd` states the hashes of its versions. A version in source form is not parsed for this: it may be compatible if its text
  /// has the names of all entities.
  package static func versions(at url: URL, likelyWith hashes: [String: Data]) throws -> [URL] {
    let versions = try versions(at: url)
    guard versions.count > 1 else { return versions }
    let current = try? currentVersion(at: url)
    let stated = url.pathExtension == "momd" ? CompiledModelFile.statedHashes(in: url) : [:]
    func mayBeCompatible(_ version: URL) -> Bool {
      if let known = stated[version.deletingPathExtension().lastPathComponent] {
        return hashes.allSatisfy { known[$0.key] == $0.value }
      }
      // A model of Xcode 3 has another file, and a text in UTF-16 begins with its mark.
      guard let text = FileManager.default.contents(atPath: version.appendingPathComponent("contents").path),
        text.first.map({ $0 < 0xFE }) == true
      else { return true }
      return hashes.keys.allSatisfy { name in
        ["\"", "'"].contains { text.range(of: Data("\($0)\(name)\($0)".utf8)) != nil }
      }
    }
    let likely = versions.filter(mayBeCompatible)
    return likely.filter { $0 == current } + likely.filter { $0 != current }
  }

  /// The current version of the model at `url`.
  package static func currentVersion(at url: URL) throws -> URL {
    try checkIsThere(url)
    return ModelPackage.isPackage(url) ? try currentVersion(of: url) : url
  }

  /// The package that contains a version; the file itself if it is not in a package.
  package static func package(of version: URL) -> URL {
    let file = version.lastPathComponent == "contents" ? version.deletingLastPathComponent() : version
    let folder = file.deletingLastPathComponent()
    return ModelPackage.isPackage(folder) ? folder : version
  }

  /// The model files among the resources of `bundles`, each model once: compiled models take precedence over their
  /// sources.
  package static func resources(of bundles: [Bundle]) -> [URL] {
    resources(of: bundles, kinds: ["momd", "mom", "xcdatamodeld", "xcdatamodel"])
  }

  /// The resources with one of these extensions: of several with one name, that of the first extension.
  static func resources(of bundles: [Bundle], kinds: [String]) -> [URL] {
    bundles.flatMap { bundle in
      var names: Set<String> = []
      return kinds.flatMap { kind in
        (bundle.urls(forResourcesWithExtension: kind, subdirectory: nil) ?? []).map { $0 as URL }
          .sorted { String.byteOrder($0.lastPathComponent, $1.lastPathComponent) }
          .filter { names.insert($0.deletingPathExtension().lastPathComponent).inserted }
      }
    }
  }

  // MARK: Reading

  /// The current version of the model at `url`, with one sentence about each omitted part.
  package static func load(_ url: URL) throws -> (model: NSManagedObjectModel, notes: [String]) {
    let version = try currentVersion(at: url)
    if version.pathExtension == "mom" { return try CompiledModelFile.load(version) }
    let file = try contentsFile(at: version)
    let elements = version.appendingPathComponent("elements")
    if !mayExist(file.path), mayExist(elements.path) {
      let (model, notes) = try ElementsReader.load(elements)
      model.sourceFiles = [elements]
      return (model, notes)
    }
    let xml = try ModelPackage.contents(of: file, "The model's contents can't be read.")
    let model = try NSManagedObjectModel.load(xml: xml, file: file)
    model.sourceFiles = [file]
    return (model, [])
  }

  /// The XML of a model in source form.
  package static func contentsFile(at url: URL) throws -> URL {
    let isDirectory = try checkIsThere(url)
    switch url.pathExtension {
    case "xcdatamodeld": return try contentsFile(at: currentVersion(of: url))
    case "mom", "momd":
      throw ModelFileError(
        file: url, line: nil, problem: "This model is compiled.",
        advice: "Give the .xcdatamodeld that it was compiled from."
      ).nsError
    case "omo": throw CompiledModelFile.optimized(url)
    default: return isDirectory ? url.appendingPathComponent("contents") : url
    }
  }

  @discardableResult
  private static func checkIsThere(_ url: URL) throws -> Bool {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
      throw ModelFileError.missing(
        url, "No model was found here.",
        advice: "Check the path; it should end in .xcdatamodeld, .xcdatamodel, .momd or .mom.")
    }
    return isDirectory.boolValue
  }

  private static func sourceVersion(of package: URL) throws -> URL {
    let versions = try versions(of: package)
    let pointer = package.appendingPathComponent(".xccurrentversion")
    guard mayExist(pointer.path) else {
      if versions.count == 1, let single = versions.first { return single }
      throw ModelFileError(
        file: package, line: nil, problem: "It has \(versions.count) versions and no .xccurrentversion file.",
        advice: versions.isEmpty
          ? "Put an .xcdatamodel into it."
          : "Choose the current version in the editor, or give one .xcdatamodel."
      ).nsError
    }
    let data = try ModelPackage.contents(of: pointer, "It can't be read.")
    let list = try? PropertyListData.dictionary(data)
    guard let name = list?["_XCCurrentVersionName"] as? String else {
      throw ModelFileError(
        file: pointer, line: nil, problem: "It does not name a current version.",
        advice: "Make it a property list with the key _XCCurrentVersionName."
      ).nsError
    }
    guard let version = versions.first(where: { $0.lastPathComponent == name }) else {
      throw ModelFileError(
        file: pointer, line: nil, problem: "It names the version '\(name)', which does not exist.",
        advice: "Name one of: \(versions.map(\.lastPathComponent).joined(separator: ", "))."
      ).nsError
    }
    return version
  }
}
