import Foundation
import FoundationXML
import PackagePlugin

/// Generates the classes of each data model of a target and embeds the model in its module, as Xcode does.
///
/// A build tool must name its output files before it runs, so the plugin reads from the model which entities have
/// generated code; `modelgen` does everything else.
@main
struct ManagedObjectModelPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let generator = try context.tool(named: "modelgen").url
    return try models(in: target.directoryURL).map { model in
      let folder = context.pluginWorkDirectoryURL.appending(path: model.stem)
      return .buildCommand(
        displayName: "Generating code of \(model.lastPathComponent)",
        executable: generator,
        arguments: [model.path, target.moduleName, folder.path],
        inputFiles: try inputs(of: model),
        outputFiles: try outputNames(of: model).map { folder.appending(path: $0) })
    }
  }

  /// Every `.xcdatamodeld`, and every separate `.xcdatamodel`.
  private func models(in folder: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.isDirectoryKey])
      .sorted { $0.path < $1.path }
      .flatMap { item -> [URL] in
        if ["xcdatamodeld", "xcdatamodel"].contains(item.pathExtension) { return [item] }
        let isFolder = try item.resourceValues(forKeys: [.isDirectoryKey]).isDirectory ?? false
        return isFolder ? try models(in: item) : []
      }
  }

  /// The model itself, so that a new version is detected, and each file in it, so that an edit is.
  private func inputs(of model: URL) throws -> [URL] {
    let marker = model.appending(path: ".xccurrentversion")
    let contents = try versions(of: model).map { $0.appending(path: "contents") }
    return [model] + contents + [marker].filter { FileManager.default.fileExists(atPath: $0.path) }
  }

  private func outputNames(of model: URL) throws -> [String] {
    let embedding = "\(model.stem)+EmbeddedModel.swift"
    // The generator reports the errors of an unreadable model when it runs.
    guard let current = try? currentVersion(of: model),
      let document = try? XMLDocument(contentsOf: current.appending(path: "contents"))
    else { return [embedding] }
    let entities = document.rootElement()?.elements(forName: "entity") ?? []
    return entities.flatMap { entity -> [String] in
      let className = entity.attribute(forName: "representedClassName")?.stringValue ?? "NSManagedObject"
      guard let name = entity.attribute(forName: "name")?.stringValue, className != "NSManagedObject" else {
        return []
      }
      return switch entity.attribute(forName: "codeGenerationType")?.stringValue {
      case "class": ["\(name)+CoreDataClass.swift", "\(name)+CoreDataProperties.swift"]
      case "category": ["\(name)+CoreDataProperties.swift"]
      default: []
      }
    } + [embedding]
  }

  private func versions(of model: URL) throws -> [URL] {
    if model.pathExtension == "xcdatamodel" { return [model] }
    // A link to a folder is not listed.
    return try FileManager.default.contentsOfDirectory(
      at: model.resolvingSymlinksInPath(), includingPropertiesForKeys: nil
    )
    .filter { $0.pathExtension == "xcdatamodel" }
    .sorted { $0.path < $1.path }
  }

  private func currentVersion(of model: URL) throws -> URL? {
    let marker = model.appending(path: ".xccurrentversion")
    guard let data = try? Data(contentsOf: marker) else { return try versions(of: model).first }
    let plist = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
    return (plist?["_XCCurrentVersionName"] as? String).map { model.appending(path: $0) }
  }
}

extension URL {
  fileprivate var stem: String { deletingPathExtension().lastPathComponent }
}
