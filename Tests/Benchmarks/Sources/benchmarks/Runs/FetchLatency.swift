import Foundation
import OpenCoreData
import SurfJournal
import Synchronization

/// How long small fetches take while another context of the same coordinator saves a million entries or more: `benchmarks
/// fetch-latency STORE`. Prints the median, the 95th and 99th percentile, and the longest of 1,000 fetches.
enum FetchLatency {
  static let name = "fetch-latency"

  private static let chunkCount = 200
  private static let chunkRows = 5_000
  private static let fetchCount = 1_000

  static func run(_ arguments: [String]) throws -> Never {
    guard let store = arguments.first, arguments.count == 1 else {
      throw Options.Misuse(description: "\(name) takes a store, which must not exist")
    }
    let stack = CoreDataStack(store: URL(filePath: store))
    try stack.open()
    let writer = stack.storeContainer.newBackgroundContext()
    let reader = stack.storeContainer.newBackgroundContext()
    try writer.performAndWait { try save(chunk: 0, writer) }

    let work = Work()
    let thread = Thread {
      writer.performAndWait {
        do {
          var chunk = 1
          while chunk < chunkCount || !work.isMeasured.load(ordering: .acquiring) {
            try save(chunk: chunk, writer)
            chunk += 1
          }
        } catch {
          FileHandle.standardError.write(Data("fetch-latency: \(error)\n".utf8))
          exit(70)
        }
      }
      work.end.signal()
    }
    thread.start()
    var latencies: [Duration] = []
    for _ in 0..<fetchCount {
      latencies.append(try reader.performAndWait { try fetch(reader) })
      usleep(500)
    }
    work.isMeasured.store(true, ordering: .releasing)
    work.end.wait()
    latencies.sort()
    func milliseconds(_ share: Double) -> String {
      let latency = latencies[min(latencies.count - 1, Int(share * Double(latencies.count)))]
      return String(format: "%.3f ms", latency / .milliseconds(1))
    }
    print(
      "median \(milliseconds(0.5)), 95 % \(milliseconds(0.95)), 99 % \(milliseconds(0.99)), "
        + "longest \(milliseconds(1))")
    exit(0)
  }

  private final class Work: Sendable {
    /// All fetches were made; until then the writer goes on.
    let isMeasured = Atomic(false)
    let end = DispatchSemaphore(value: 0)
  }

  private static func save(chunk: Int, _ context: NSManagedObjectContext) throws {
    let entity = NSEntityDescription.entity(forEntityName: "JournalEntry", in: context)
    guard let entity else { throw BenchmarkFailure("the model has no JournalEntry") }
    var batch = ObjectBatch(entity: entity, rowCapacity: chunkRows)
    for row in 0..<chunkRows {
      batch.appendRow()
      batch.setReal(Double(chunk * chunkRows + row) * 60, at: try slot("date", entity))
      batch.setInteger(Int64(row % 5 + 1), at: try slot("rating", entity))
      batch.setText("place \(row % 100)", at: try slot("location", entity))
    }
    context.insert(batch)
    try context.save()
  }

  private static func slot(_ name: String, _ entity: NSEntityDescription) throws -> Int {
    guard let slot = entity.slot(named: name) else { throw BenchmarkFailure("JournalEntry has no \(name)") }
    return slot
  }

  private static func fetch(_ context: NSManagedObjectContext) throws -> Duration {
    let request = NSFetchRequest<JournalEntry>(entityName: "JournalEntry")
    request.predicate = NSPredicate(format: "rating == 3")
    request.fetchLimit = 10
    let clock = ContinuousClock()
    let begin = clock.now
    let found = try context.fetch(request)
    let end = clock.now
    guard found.count == 10 else { throw BenchmarkFailure("a fetch found \(found.count) entries, not 10") }
    context.reset()
    return begin.duration(to: end)
  }
}
