import Foundation

extension NSManagedObjectModel {
  /// Reads a model from a file. (Apple documentation: init(contentsOf:).)
  ///
  /// ```swift
  /// if let model = NSManagedObjectModel(contentsOf: file) { print(model.entities.count) }
  /// ```
  ///
  /// - Parameter url: An `.xcdatamodeld` or `.momd` package (its current version is read), a compiled `.mom`, an
  ///   `.xcdatamodel` directory or the `contents` file in one.
  /// - Returns: Nil if it cannot be read; `load(contentsOf:)` throws the reason.
  public convenience init?(contentsOf url: URL) {
    guard let loaded = try? NSManagedObjectModel.load(contentsOf: url) else { return nil }
    self.init()
    adopt(loaded)
  }

  /// Reads a model like `init(contentsOf:)`, and throws if it cannot be read.
  ///
  /// An `.xcdatamodeld` names its current version in `.xccurrentversion`, a `.momd` in `VersionInfo.plist`; without
  /// that file it must contain a single version. Unreadable parts of a compiled model are omitted; ``StoreModel``
  /// reports them. The NSError (NSCocoaErrorDomain; 260 for a missing file, 259 for bad content) names the file, the
  /// line if known, the problem and the remedy. An extension of this library, not in Core Data.
  public static func load(contentsOf url: URL) throws -> NSManagedObjectModel {
    try ModelFile.load(url).model
  }

  /// Reads a model from the XML text of a `contents` file, which a build tool may have embedded.
  ///
  /// - Parameters:
  ///   - xml: The text, in the encoding that it declares.
  ///   - file: What errors name; it is not read.
  /// - Throws: `NSError` 259 (NSCocoaErrorDomain) that says what is wrong, in which line, and what to do.
  public static func load(xml: Data, file: URL? = nil) throws -> NSManagedObjectModel {
    try load(xml: xml, file: file, module: nil)
  }

  /// - Parameter module: The module that the model is embedded in; nil to find it out.
  package static func load(xml: Data, file: URL? = nil, module: String?) throws -> NSManagedObjectModel {
    let model = try ModelXMLReader(file: file).read(xml)
    let package = file.map { ModelFile.package(of: $0).deletingPathExtension().lastPathComponent }
    guard let module = module ?? EmbeddedModels.module(embedding: xml, package: package) else { return model }
    for entity in model.entities {
      entity.moduleName = module
      if let name = entity.representedClassName, name.hasPrefix(".") { entity.managedObjectClassName = module + name }
    }
    return model
  }

  /// Takes over the contents of a model that other code does not reference.
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
