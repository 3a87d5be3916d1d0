import Foundation

extension NSManagedObjectModel {
  /// Reads a model from an `.xcdatamodeld` or `.momd` package (its current version), a compiled `.mom`, an
  /// `.xcdatamodel` directory or the `contents` file in one; nil if it cannot be read. `load(contentsOf:)` says why.
  public convenience init?(contentsOf url: URL) {
    guard let loaded = try? NSManagedObjectModel.load(contentsOf: url) else { return nil }
    self.init()
    adopt(loaded)
  }

  /// Reads a model like `init(contentsOf:)` and throws if it cannot.
  ///
  /// An `.xcdatamodeld` names its current version in `.xccurrentversion`, a `.momd` in `VersionInfo.plist`; without
  /// that file it must hold a single version. What is odd in a compiled model is left out: ``StoreModel`` says what.
  /// The NSError (NSCocoaErrorDomain; 260 for no such file, 259 for bad content) tells file,
  /// line where known, what is wrong, and what to do. An extension of this library, not in Core Data.
  public static func load(contentsOf url: URL) throws -> NSManagedObjectModel {
    try ModelFile.load(url).model
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
