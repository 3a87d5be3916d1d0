import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import Synchronization
import TestSupport

/// A session that counts how many of its kind are alive. One suite counts at a time.
final class CountedSession: NSManagedObject {
  private static let live = Atomic<Int>(0)
  static var liveCount: Int { live.load(ordering: .relaxed) }

  override class var lifecycleHooks: LifecycleHooks { [] }

  required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    Self.live.add(1, ordering: .relaxed)
    super.init(entity: entity, insertInto: context)
  }

  deinit { Self.live.subtract(1, ordering: .relaxed) }

  static func model() -> NSManagedObjectModel { Sessions.model(className: "OpenCoreDataTests.CountedSession") }
}

/// Whether an object is still there, without keeping it.
struct LifeTrace {
  private(set) weak var object: AnyObject?
  init(_ object: AnyObject?) { self.object = object }
}

extension [LifeTrace] {
  var liveCount: Int { count { $0.object != nil } }

  /// Whether all go. The sets of IDs that saves announce are made and released on another thread, later.
  func allGo(within seconds: TimeInterval = 10) -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    while liveCount > 0, Date() < end { usleep(100) }
    return liveCount == 0
  }
}

extension NSManagedObjectContext {
  /// The segments that wait here, and the ranges of temporary IDs, which every ID of theirs holds.
  var traces: [LifeTrace] { graph.insertions.segments.flatMap { [LifeTrace($0), LifeTrace($0.range)] } }
}

extension ObjectRegistry {
  /// The entries of the table, dead ones included.
  var entryCount: Int { (Mirror(reflecting: self).descendant("entries") as? any Collection)?.count ?? -1 }
}

/// What this process has open below `folder`.
func openFiles(below folder: TemporaryFolder) -> [String] {
  let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    .filter { $0.hasPrefix(folder.url.path) }
}
