import CEmbeddedModels
import Foundation
import SystemSupport

/// A managed object model as the build tool plugin embeds it in a module: the counterpart of the `.momd` folder that
/// Xcode puts into an app's bundle.
///
/// Generated code creates it; clients do not need to.
public struct EmbeddedModel: Sendable {
  /// One version of a model: an `.xcdatamodel` inside the `.xcdatamodeld`.
  public struct Version: Sendable {
    /// The version's name: the name of its folder without the extension.
    public let name: String
    /// The text of its `contents` file.
    public let xml: String

    /// A version of a model.
    ///
    /// - Parameters:
    ///   - name: The name of the version.
    ///   - xml: The text of its `contents` file.
    public init(name: String, xml: String) {
      self.name = name
      self.xml = xml
    }
  }

  /// The model's name, `SurfJournalModel` for `SurfJournalModel.xcdatamodeld`.
  public let name: String
  /// The Swift module that the model is embedded in.
  public let moduleName: String
  /// The version that `.xccurrentversion` names.
  public let currentVersionName: String
  /// Every version, sorted by name.
  public let versions: [Version]
  /// The classes that the generated code knows, by name without the module.
  public let classes: [String: AnyClass]

  /// A model that generated code registers. The parameters are the properties of the same names.
  public init(
    name: String, moduleName: String, currentVersionName: String, versions: [Version],
    classes: [String: AnyClass]
  ) {
    self.name = name
    self.moduleName = moduleName
    self.currentVersionName = currentVersionName
    self.versions = versions
    self.classes = classes
  }

  /// The current version.
  package var currentVersion: Version? { versions.first { $0.name == currentVersionName } }
}

/// The models embedded in this program.
///
/// Clients need not register them as long as OpenCoreData and the embedding module are linked into the same image,
/// which is what SwiftPM does unless a product is declared `.dynamic`. Across images the client calls the embedding
/// module's `registerEmbeddedModel` (one per model, generated) once.
public enum EmbeddedModels {
  private static let registered = Locked<[EmbeddedModel]>([])
  private static let sectionRead: Void = ocd_register_models()

  /// Adds a model and replaces one with the same name and module. Called by generated code.
  public static func register(_ model: EmbeddedModel) {
    registered.withLock { models in
      models.removeAll { $0.name == model.name && $0.moduleName == model.moduleName }
      models.append(model)
    }
  }

  /// Every embedded model, sorted by module and name, so that results do not depend on the link order.
  package static var all: [EmbeddedModel] {
    sectionRead
    return registered.withLock { $0 }.sorted { ($0.moduleName, $0.name) < ($1.moduleName, $1.name) }
  }

  /// The model with this name, in the named module if there is one. Without a module name, several modules may have a
  /// model of the name; the result then is the first by module name.
  package static func model(named name: String, inModule moduleName: String? = nil) -> EmbeddedModel? {
    all.first { $0.name == name && (moduleName == nil || $0.moduleName == moduleName) }
  }

  /// The module in which the model with this text is embedded; nil if none or several have it.
  ///
  /// - Parameter package: The name of the model, for one that was changed since it was embedded.
  static func module(embedding xml: Data, package: String?) -> String? {
    let text = String(decoding: xml, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    let models = all
    let exact = models.filter { model in
      model.versions.contains { $0.xml.trimmingCharacters(in: .whitespacesAndNewlines) == text }
    }
    let modules = Set((exact.isEmpty ? models.filter { $0.name == package } : exact).map(\.moduleName))
    return modules.count == 1 ? modules.first : nil
  }

  /// The class that an entity's `managedObjectClassName` names; nil if this program does not have it.
  ///
  /// - Parameters:
  ///   - className: `Module.Class`, `.Class` (Xcode's "current product module") or `Class`.
  ///   - moduleName: The module to search for a name without a module; nil searches every module with an embedded
  ///     model.
  package static func managedObjectClass(
    named className: String, inModule moduleName: String? = nil
  ) -> AnyClass? {
    let parts = className.split(separator: ".", maxSplits: 1).map(String.init)
    guard let bareName = parts.last else { return nil }
    let moduleWanted = parts.count == 2 ? parts[0] : moduleName
    let models = all.filter { moduleWanted == nil || $0.moduleName == moduleWanted }
    if let known = models.lazy.compactMap({ $0.classes[bareName] }).first { return known }
    // Hand-written classes are not in any model's table; the runtime finds them by module and name.
    let modules = moduleWanted.map { [$0] } ?? models.map(\.moduleName)
    return modules.lazy.compactMap { NSClassFromString("\($0).\(bareName)") }.first
  }
}
