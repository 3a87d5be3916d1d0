import Foundation
import OpenCoreData
import PipelineEngine
import SurfJournal
import Synchronization

/// Imports that the command has no option for, since only a benchmark wants them. Each runs in a process of its
/// own: `benchmarks import-one-context LOG STORE`.
enum ImportVariant: String, CaseIterable {
  /// One context on the coordinator.
  case oneContext = "import-one-context"
  /// Three contexts that announce every object, and an observer.
  case objectSets = "import-object-sets"

  func run(_ arguments: [String]) async throws -> Never {
    guard arguments.count == 2 else { throw Options.Misuse(description: "\(rawValue) takes a log and a store") }
    var options = RunOptions()
    options.inputs = [arguments[0]]
    options.store = arguments[1]
    let listener = SaveListener()
    switch self {
    case .oneContext: options.contextChain = .one
    case .objectSets:
      options.notificationContents = .objects
      listener.start()
    }
    let summary = try await PipelineRunner(.surfLog, .import, options: options).run()
    print(summary.text())
    // The import, the view and the writer context have each announced every entry.
    let heard = listener.insertedCount
    guard self == .oneContext || heard == 3 * summary.counts.inserted else {
      throw BenchmarkFailure("the saves reported \(heard) objects, for \(summary.counts.inserted) entries")
    }
    exit(summary.exitCode.rawValue)
  }
}

/// Counts the objects that saves say were inserted.
private final class SaveListener: Sendable {
  private let count = Atomic(0)

  var insertedCount: Int { count.load(ordering: .relaxed) }

  func start() {
    // The process ends before anybody could stop listening.
    let name = Notification.Name.NSManagedObjectContextDidSave
    _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { note in
      let inserted = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>
      self.count.add(inserted?.count ?? 0, ordering: .relaxed)
    }
  }
}
