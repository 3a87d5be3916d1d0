import Foundation
import ManagedObjectModel

/// The files generated from a model.
struct CodeGenerator {
  struct File {
    var name: String
    var text: String
  }

  var bundle: ModelBundle
  var moduleName: String

  /// All files; the embedded model is the last one.
  func files() throws -> [File] {
    try ModelError.check(bundle.currentVersion.model)
    let files = entities.flatMap { entity -> [File] in
      guard let className = entity.ownClassName.map(SwiftName.escaped), entity.generatesProperties else {
        return []
      }
      let properties = File(
        name: "\(entity.entityName)+CoreDataProperties.swift",
        text: propertiesFile(of: entity, className: className))
      guard entity.generatesClass else { return [properties] }
      let definition = File(
        name: "\(entity.entityName)+CoreDataClass.swift", text: classFile(of: entity, className: className))
      return [definition, properties]
    }
    return files + [File(name: "\(bundle.name)+EmbeddedModel.swift", text: embeddingFile())]
  }

  private var entities: [NSEntityDescription] { bundle.currentVersion.model.entities }

  private var header: String {
    "// Generated from the model \(bundle.name) by modelgen; changes made here are lost.\n// swift-format-ignore-file\n"
  }

  // MARK: - Class

  /// The class itself overrides nothing, so it requests only the hooks that its superclass requests. A handwritten
  /// subclass requests all hooks, because its overrides are unknown.
  private func classFile(of entity: NSEntityDescription, className: String) -> String {
    let superclass = SwiftName.escaped(entity.superclassName)
    let hooks = superclass == "NSManagedObject" ? "[]" : "\(superclass).lifecycleHooks"
    return """
      \(header)
      public import OpenCoreData

      nonisolated public class \(className): \(superclass) {
        override public class var lifecycleHooks: LifecycleHooks {
          self == \(className).self ? \(hooks) : .all
        }
      }

      """
  }

  // MARK: - Properties

  private func propertiesFile(of entity: NSEntityDescription, className: String) -> String {
    let accessors = entity.ownProperties(as: NSAttributeDescription.self).map(AttributeAccessor.init)
    var members = [
      """
        public class func fetchRequest() -> NSFetchRequest<\(className)> {
          NSFetchRequest<\(className)>(entityName: \(SwiftName.literal(entity.entityName)))
        }
      """
    ]
    members += accessors.map(\.source)
    let relationships = entity.ownProperties(as: NSRelationshipDescription.self).map(RelationshipAccessor.init)
    members += relationships.map(\.source)
    members += entity.ownProperties(as: NSFetchedPropertyDescription.self).map { FetchedAccessor(property: $0).source }
    let identifiable =
      entity.inheritsIdentifiable ? "" : "\nnonisolated extension \(className): Identifiable {}\n"
    return """
      \(header)
      \(imports(foundation: accessors.contains(where: \.isOfFoundation) || relationships.contains(where: \.isOfFoundation)))

      nonisolated extension \(className) {
      \(members.joined(separator: "\n\n"))
      }
      \(identifiable)
      """
  }

  /// The properties are as visible as the class, which may be public or not. Where imports are internal by default, a
  /// public property needs a public import; elsewhere an unnecessary public import causes a warning in the client's
  /// build.
  private func imports(foundation: Bool) -> String {
    let modules = (foundation ? ["Foundation"] : []) + ["OpenCoreData"]
    return """
      #if hasFeature(InternalImportsByDefault)
      \(modules.map { "  public import \($0)" }.joined(separator: "\n"))
      #else
      \(modules.map { "  import \($0)" }.joined(separator: "\n"))
      #endif
      """
  }

  // MARK: - Embedding

  private func embeddingFile() -> String {
    """
    \(header)
    import OpenCoreData

    /// Makes \(bundle.name) known to OpenCoreData. It is called by itself, except where OpenCoreData comes from
    /// another dynamic library than this module: call it there once.
    nonisolated public func \(registrationName)() {
      EmbeddedModels.register(embeddedModel)
    }

    nonisolated private let embeddedModel = EmbeddedModel(
      name: \(SwiftName.literal(bundle.name)),
      moduleName: \(SwiftName.literal(moduleName)),
      currentVersionName: \(SwiftName.literal(bundle.currentVersion.name)),
      versions: [
    \(bundle.versions.map(embeddedVersion).joined(separator: "\n"))
      ],
      classes: [\(embeddedClasses)])

    @section("ocd_models")
    @used
    nonisolated private let registration: @convention(c) () -> Void = { \(registrationName)() }

    """
  }

  private func embeddedVersion(_ version: ModelBundle.Version) -> String {
    "    EmbeddedModel.Version(\n      name: \(SwiftName.literal(version.name)),\n"
      + "      xml: \(SwiftName.multilineLiteral(version.xml))),"
  }

  private var embeddedClasses: String {
    let names = entities.filter(\.generatesProperties).compactMap(\.ownClassName).sorted()
    guard !names.isEmpty else { return ":" }
    let lines = names.map { "    \(SwiftName.literal($0)): \(SwiftName.escaped($0)).self," }
    return "\n\(lines.joined(separator: "\n"))\n  "
  }

  /// The model's name may contain characters that identifiers may not.
  private var registrationName: String {
    "register" + String(bundle.name.filter { $0.isLetter || $0.isNumber || $0 == "_" })
  }
}
