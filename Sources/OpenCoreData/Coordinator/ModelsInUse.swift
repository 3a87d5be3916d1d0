import Foundation
import SystemSupport

/// The models of coordinators. Classes find their entity in them.
enum ModelsInUse {
  private struct Reference: Sendable { weak var model: NSManagedObjectModel? }
  private static let models = Locked<[Reference]>([])

  static func add(_ model: NSManagedObjectModel) {
    models.withLock { models in
      models.removeAll { $0.model == nil }
      models.append(Reference(model: model))
    }
  }

  /// The most recently used model first.
  static var all: [NSManagedObjectModel] { models.withLock { $0.reversed().compactMap(\.model) } }
}
