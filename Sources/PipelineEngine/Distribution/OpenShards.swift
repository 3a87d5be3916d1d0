import OpenCoreData
import PersistentStores

/// Finds the shards of a plan that a worker can import now: those that are not complete, of parts that wait for no other
/// part.
///
/// One statement finds them, so that it sees one state of the plan: between two statements another worker might complete
/// a part. There are none only if the whole plan is complete, because the first part that is not waits for no other.
struct OpenShards {
  private let plan: String
  private let shard: String
  private let planned: String
  private let input: String
  private let parts: PlanParts

  init(ofPlan plan: String, _ parts: PlanParts) {
    let environment = parts[0].environment
    (self.plan, self.parts) = (plan, parts)
    (shard, planned) = (environment.plans.shard, environment.plans.planned)
    input = environment.tables.input
  }

  /// Some of them in a random order, and not more than a worker completes before many are complete by others.
  func some(in coordinator: NSPersistentStoreCoordinator) throws -> [Int] {
    try numbers("\(isOpen)\(parts.count == 1 ? "" : " AND \(isReady)") \(Self.someOfThem)", in: coordinator)
  }

  /// As ``some(in:)`` while a part waits for others; none when it can begin.
  func some(before part: Int, in coordinator: NSPersistentStoreCoordinator) throws -> [Int] {
    if parts.before(part).isEmpty { return [] }
    let isWaiting = "\(Self.digest(of: parts[part])) IN (SELECT digest FROM waiting)"
    return try numbers("\(isOpen) AND \(isReady) AND \(isWaiting) \(Self.someOfThem)", in: coordinator)
  }

  /// All that are not complete, in order, also those of parts that wait.
  func unfinished(in coordinator: NSPersistentStoreCoordinator) throws -> [Int] {
    try numbers("\(isOpen) ORDER BY shard", in: coordinator)
  }

  private static let someOfThem = "ORDER BY random() LIMIT 500"
  private var isOpen: String { "planID = ?1 AND state <> 'complete'" }
  private var isReady: String {
    "inputID NOT IN (SELECT p.inputID FROM \(planned) p JOIN \(input) i ON i.inputID = p.inputID "
      + "WHERE p.planID = ?1 AND i.pipelineDigest IN (SELECT digest FROM waiting))"
  }

  private func numbers(_ condition: String, in coordinator: NSPersistentStoreCoordinator) throws -> [Int] {
    try coordinator.participantRows("\(waiting)SELECT shard FROM \(shard) WHERE \(condition)", [plan])
      .compactMap { ($0.first as? Int64).map(Int.init) }
  }

  /// Names the parts that can't begin yet, by the digests that their inputs have.
  private var waiting: String {
    let pairs = parts.parts.indices.flatMap { own in
      parts.before(own).map { "(\(Self.digest(of: parts[own])), \(Self.digest(of: parts[$0])))" }
    }
    if pairs.isEmpty { return "" }
    return """
      WITH unfinished AS (
          SELECT DISTINCT i.pipelineDigest AS digest FROM \(shard) s JOIN \(input) i ON i.inputID = s.inputID
          WHERE s.planID = ?1 AND s.state <> 'complete'),
        waiting AS (
          SELECT digest FROM (VALUES \(pairs.joined(separator: ", "))) AS needed(digest, earlier)
          WHERE earlier IN (SELECT digest FROM unfinished))

      """
  }

  private static func digest(of part: ImportPart) -> String { "'\(part.environment.digest.hex)'" }
}
