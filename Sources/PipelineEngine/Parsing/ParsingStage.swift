import CSV
import Foundation
import SystemSupport

/// Parses blocks on its own threads, as many at a time as there are cores available, and passes the chunks on in the
/// order of their blocks.
struct ParsingStage {
  private struct Job: Sendable {
    let block: RecordBlock
    let progress: InputProgress
    let chunk: BoundedQueue<ParsedChunk>
  }

  /// Each thread works on one chunk, and another one waits for it.
  private static let threadsMax = 8
  /// Reading and saving take about one core together.
  private static var threadCount: Int { max(1, min(threadsMax, ProcessInfo.processInfo.activeProcessorCount - 1)) }

  private let jobs: BoundedQueue<Job>
  private let announce: (BoundedQueue<ParsedChunk>) -> Bool
  private let threadCount: Int

  /// - Parameter announce: Receives the queues that deliver one chunk each, in order; returns false to stop.
  init(
    _ parser: ChunkParser, clock: StageClock, name: String, announce: @escaping (BoundedQueue<ParsedChunk>) -> Bool
  ) {
    self.announce = announce
    threadCount = Self.threadCount
    jobs = BoundedQueue(capacity: threadCount)
    for _ in 0..<threadCount {
      Thread.begin("parser \(name)") { [jobs] in
        var parser = parser
        clock.time(.parse) { share in
          while let job = share.waiting(jobs.receive) {
            var chunk = parser.parse(job.block)
            chunk.progress = job.progress
            _ = job.chunk.send(chunk)
          }
        }
      }
    }
  }

  /// Waits where parsing or saving is behind; false when no more blocks are needed.
  func send(_ block: RecordBlock, _ progress: InputProgress) -> Bool {
    let chunk = BoundedQueue<ParsedChunk>(capacity: 1)
    return announce(chunk) && jobs.send(Job(block: block, progress: progress, chunk: chunk))
  }

  /// The threads end when they have parsed what was sent to them.
  func finish() { for _ in 0..<threadCount { jobs.finish() } }
}
