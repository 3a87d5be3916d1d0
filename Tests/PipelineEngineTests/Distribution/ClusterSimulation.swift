import Foundation
import TestSupport

/// A simulation of many machines that import the shards of a plan into one database, event by event.
///
/// Machines fail, some are slow, a tenth of all tasks is killed at once, and answers to COMMIT get lost. A scheduler starts
/// killed tasks again and, towards the end, second attempts of those that take long. The database has a number of writers
/// and a rate of rows; who finds no writer free waits.
struct ClusterSimulation {
  enum Sink: String {
    /// Each chunk's transaction begins with the comparison of the checkpoint.
    case ledger
    /// Chunks are committed without a ledger, as JDBC writers do.
    case withoutLedger = "none"
  }

  /// The size of a world.
  struct World {
    var name: String
    var taskCount = 2000
    var shardCount = 4096
    var rowsPerShard = 4_000_000
    var chunkRows = 50_000
    /// Connections that write at the same time.
    var writerCount: Int
    /// Rows that the database takes in a second, with all writers.
    var databaseRows: Double
    /// Rows that a task parses in a second.
    var parsedRows = 2e6
    /// The share of slow machines, and how many times as long they take.
    var slowShare = 0.05
    var slowFactor = 100.0
    var failuresPerHour = 0.01
    /// The share of tasks that is killed at once, when 40 % of the shards are complete.
    var stormShare = 0.1
    var lostAnswerShare = 0.001
    var commitSeconds = 0.004
    /// What a task takes to start, and the server to notice that a task is gone.
    var startSeconds = 3.0
    var detectionSeconds = 5.0
    var startsSecondAttempts = true
    var chunkCount: Int { rowsPerShard / chunkRows }
    var rowCount: Int { shardCount * rowsPerShard }
  }

  struct Result {
    var seconds = 0.0
    var idealSeconds = 0.0
    var lostRows = 0
    var doubledRows = 0
    /// Transactions that found the checkpoint moved: they copied nothing.
    var movedCount = 0
    var writersMax = 0
    /// Chunks that a checkpoint moved back over, which must not happen.
    var goneBackCount = 0
    var ratio: Double { seconds / idealSeconds }
  }

  private enum Event { case parsed(Int), answered(Int, isLost: Bool), died(Int), freed, machineBack(Int), assign, look }

  private struct Attempt {
    let shard: Int
    let task: Int
    let start: Double
    var chunk: Int
    var isOver = false
  }

  private let world: World
  private let sink: Sink
  private var random: SeededGenerator
  private var queue = EventQueue<Event>()
  private var now = 0.0
  private var speeds: [Double]
  /// The checkpoint of each shard, and how many of its chunks are in the table.
  private var (checkpoints, copied): ([Int], [Int])
  private var isComplete: [Bool]
  private var completeCount = 0
  private var attempts: [Attempt] = []
  private var own: [[Int]]
  private var (open, idle): ([Int], [Int])
  private var freeWriters: Int
  private var waiting: [Int] = []
  private var durations: [Double] = []
  private var hadStorm = false
  private var result = Result()

  init(_ world: World, _ sink: Sink, seed: UInt64) {
    (self.world, self.sink, random) = (world, sink, SeededGenerator(seed: seed))
    speeds = Array(repeating: world.parsedRows, count: world.taskCount)
    checkpoints = Array(repeating: 0, count: world.shardCount)
    copied = checkpoints
    isComplete = Array(repeating: false, count: world.shardCount)
    own = Array(repeating: [], count: world.shardCount)
    (open, idle) = (Array((0..<world.shardCount).reversed()), Array(0..<world.taskCount))
    freeWriters = world.writerCount
  }

  private mutating func share() -> Double { Double.random(in: 0..<1, using: &random) }

  mutating func run() -> Result {
    for task in speeds.indices where share() < world.slowShare { speeds[task] /= world.slowFactor }
    queue.add(.assign, at: 0)
    queue.add(.look, at: 0.5)
    while completeCount < world.shardCount, let (time, event) = queue.next() {
      now = time
      handle(event)
    }
    result.seconds = now
    result.idealSeconds = Double(world.rowCount) / min(world.databaseRows, speeds.reduce(0, +))
    for count in copied {
      result.lostRows += max(0, world.chunkCount - count) * world.chunkRows
      result.doubledRows += max(0, count - world.chunkCount) * world.chunkRows
    }
    return result
  }

  private mutating func handle(_ event: Event) {
    switch event {
    case .parsed(let id): parsed(id)
    case .answered(let id, let isLost): answered(id, isLost: isLost)
    case .died(let id): die(id)
    case .freed: free()
    case .machineBack(let task):
      idle.append(task)
      assign()
    case .assign: assign()
    case .look: look()
    }
  }

  // MARK: Attempts

  private mutating func assign() {
    while !idle.isEmpty, let shard = open.popLast() {
      if !isComplete[shard], let task = idle.popLast() { begin(shard, on: task) }
    }
  }

  private mutating func begin(_ shard: Int, on task: Int) {
    let id = attempts.count
    attempts.append(Attempt(shard: shard, task: task, start: now, chunk: sink == .ledger ? checkpoints[shard] : 0))
    own[shard].append(id)
    let life = -log(1 - share()) * 3600 / world.failuresPerHour
    queue.add(.died(id), at: now + life)
    queue.add(.parsed(id), at: now + world.startSeconds + parseSeconds(task))
  }

  private func parseSeconds(_ task: Int) -> Double { Double(world.chunkRows) / speeds[task] }
  private var copySeconds: Double {
    world.commitSeconds + Double(world.chunkRows) / (world.databaseRows / Double(world.writerCount))
  }

  /// A chunk is ready to be sent; nothing is locked yet.
  private mutating func parsed(_ id: Int) {
    let attempt = attempts[id]
    if attempt.isOver { return }
    if isComplete[attempt.shard] { return leave(id) }
    if sink == .ledger, attempt.chunk < checkpoints[attempt.shard] {
      attempts[id].chunk = checkpoints[attempt.shard]
      return queue.add(.parsed(id), at: now + parseSeconds(attempt.task))
    }
    if freeWriters == 0 { return waiting.append(id) }
    freeWriters -= 1
    result.writersMax = max(result.writersMax, world.writerCount - freeWriters)
    send(id)
  }

  private mutating func send(_ id: Int) {
    queue.add(.answered(id, isLost: share() < world.lostAnswerShare), at: now + copySeconds)
  }

  private mutating func free() {
    while !waiting.isEmpty {
      let next = waiting.removeFirst()
      if !attempts[next].isOver { return send(next) }
    }
    freeWriters += 1
  }

  private mutating func answered(_ id: Int, isLost: Bool) {
    let attempt = attempts[id]
    // The connection was gone before COMMIT: the server notices and rolls back.
    if attempt.isOver { return queue.add(.freed, at: now + world.detectionSeconds) }
    commit(id, isLost: isLost)
    free()
    if attempts[id].chunk >= world.chunkCount { return complete(id) }
    queue.add(.parsed(id), at: now + max(0, parseSeconds(attempt.task) - copySeconds))
  }

  private mutating func commit(_ id: Int, isLost: Bool) {
    let shard = attempts[id].shard
    switch sink {
    case .ledger:
      if checkpoints[shard] == attempts[id].chunk {
        checkpoints[shard] += 1
        copied[shard] += 1
      } else {
        result.movedCount += 1
        if checkpoints[shard] < attempts[id].chunk { result.goneBackCount += 1 }
      }
      // Also after a lost answer: the ledger says where to go on.
      attempts[id].chunk = checkpoints[shard]
    case .withoutLedger:
      copied[shard] += 1
      if !isLost { attempts[id].chunk += 1 }
    }
  }

  private mutating func complete(_ id: Int) {
    let shard = attempts[id].shard
    if !isComplete[shard] {
      isComplete[shard] = true
      completeCount += 1
      durations.append(now - attempts[id].start)
    }
    leave(id)
  }

  /// An attempt ends, and with a complete shard all others of it.
  private mutating func leave(_ id: Int) {
    let shard = attempts[id].shard
    let ending = isComplete[shard] ? own[shard] : [id]
    for one in ending where !attempts[one].isOver {
      attempts[one].isOver = true
      idle.append(attempts[one].task)
    }
    own[shard].removeAll { ending.contains($0) }
    assign()
  }

  private mutating func die(_ id: Int) {
    guard !attempts[id].isOver else { return }
    let shard = attempts[id].shard
    attempts[id].isOver = true
    own[shard].removeAll { $0 == id }
    if !isComplete[shard], own[shard].isEmpty { open.append(shard) }
    queue.add(.machineBack(attempts[id].task), at: now + 30)
    queue.add(.assign, at: now + 1)
  }

  // MARK: The scheduler

  private mutating func look() {
    queue.add(.look, at: now + 0.5)
    let done = Double(completeCount) / Double(world.shardCount)
    if !hadStorm, done > 0.4 {
      hadStorm = true
      let alive = attempts.indices.filter { !attempts[$0].isOver }.shuffled(using: &random)
      for id in alive.prefix(Int(Double(alive.count) * world.stormShare)) { die(id) }
    }
    guard world.startsSecondAttempts, done > 0.75, open.isEmpty, !durations.isEmpty else { return }
    let median = durations.sorted()[durations.count / 2]
    for shard in own.indices where own[shard].count == 1 && !isComplete[shard] {
      guard now - attempts[own[shard][0]].start > 1.5 * median, let task = idle.popLast() else { continue }
      begin(shard, on: task)
    }
  }
}
