import Foundation

extension NSManagedObjectModel {
  /// Reads a model from an `.xcdatamodeld` package (its current version), an `.xcdatamodel` directory or the
  /// `contents` file in one; nil if it cannot be read. `load(contentsOf:)` says why.
  public convenience init?(contentsOf url: URL) {
    guard let loaded = try? NSManagedObjectModel.load(contentsOf: url) else { return nil }
    self.init()
    adopt(loaded)
  }

  /// Reads a model like `init(contentsOf:)` and throws if it cannot.
  ///
  /// An `.xcdatamodeld` names its current version in `.xccurrentversion`; without that file it must hold a
  /// single version. The NSError (NSCocoaErrorDomain; 260 for no such file, 259 for bad content) tells file,
  /// line where known, what is wrong, and what to do. An extension of this library, not in Core Data.
  public static func load(contentsOf url: URL) throws -> NSManagedObjectModel {
    let file = try ModelFile.contentsFile(at: url)
    guard let xml = FileManager.default.contents(atPath: file.path) else {
      throw ModelFile.missing(
        file, "The model's contents can't be read.", "Check that the file is there and readable.")
    }
    let model = try load(xml: xml, file: file)
    model.sourceFiles = [file]
    return model
  }

  /// Reads a model from the XML text of a `contents` file, which a build tool may have embedded. `file` is
  /// only named in errors.
  public static func load(xml: Data, file: URL? = nil) throws -> NSManagedObjectModel {
    try ModelXMLReader(file: file).read(xml)
  }

  /// Takes over the contents of a model that nobody else knows.
  private func adopt(_ other: NSManagedObjectModel) {
    let taken = other.entities
    other.entities = []
    entities = taken
    versionIdentifiers = other.versionIdentifiers
    sourceFiles = other.sourceFiles
    entityNamesByConfiguration = other.entityNamesByConfiguration
    fetchRequestTemplates = other.fetchRequestTemplates
  }
}

/// Finds the `contents` file of a model on disk.
package enum ModelFile {
  package static func contentsFile(at url: URL) throws -> URL {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
      throw missing(
        url, "There is no model here.", "Check the path; it should end in .xcdatamodeld or .xcdatamodel.")
    }
    switch url.pathExtension {
    case "xcdatamodeld": return try contentsFile(at: currentVersion(of: url))
    case "mom", "momd", "omo":
      throw ModelXMLError(
        file: url, line: nil, problem: "Compiled models can't be read.",
        advice: "Give the .xcdatamodeld that this was compiled from."
      ).nsError
    default: return isDirectory.boolValue ? url.appendingPathComponent("contents") : url
    }
  }

  /// The `.xcdatamodel` that an `.xcdatamodeld` names as its current version.
  package static func currentVersion(of package: URL) throws -> URL {
    let versions = try versions(of: package)
    let pointer = package.appendingPathComponent(".xccurrentversion")
    guard let data = FileManager.default.contents(atPath: pointer.path) else {
      if versions.count == 1, let single = versions.first { return single }
      throw ModelXMLError(
        file: package, line: nil, problem: "It has \(versions.count) versions and no .xccurrentversion file.",
        advice: versions.isEmpty
          ? "Put an .xcdatamodel into it."
          : "Choose the current version in the editor, or give one .xcdatamodel."
      ).nsError
    }
    let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
    guard let name = list?["_XCCurrentVersionName"] as? String else {
      throw ModelXMLError(
        file: pointer, line: nil, problem: "It does not name a current version.",
        advice: "Make it a property list with the key _XCCurrentVersionName."
      ).nsError
    }
    guard let version = versions.first(where: { $0.lastPathComponent == name }) else {
      throw ModelXMLError(
        file: pointer, line: nil, problem: "It names the version '\(name)', which is not there.",
        advice: "Name one of: \(versions.map(\.lastPathComponent).joined(separator: ", "))."
      ).nsError
    }
    return version
  }

  /// All versions in an `.xcdatamodeld`, sorted by name.
  package static func versions(of package: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: package, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "xcdatamodel" }
      .sorted { String.byteOrder($0.lastPathComponent, $1.lastPathComponent) }
  }

  /// The versions that the model at `url` has: itself unless it is a package of several.
  static func versions(at url: URL) throws -> [URL] {
    url.pathExtension == "xcdatamodeld" ? try versions(of: url) : [url]
  }

  /// The version in force of the model at `url`.
  static func currentVersion(at url: URL) throws -> URL {
    url.pathExtension == "xcdatamodeld" ? try currentVersion(of: url) : url
  }

  static func missing(_ file: URL, _ problem: String, _ advice: String) -> NSError {
    ModelXMLError(file: file, line: nil, problem: problem, advice: advice)
      .nsError(code: CocoaError.fileReadNoSuchFile.rawValue)
  }
}
