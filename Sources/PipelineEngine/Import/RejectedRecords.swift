/// The rejected records of a chunk, as a file of rejects has them.
struct RejectedRecords {
  /// The original bytes of the records, those of neighbours at once.
  private(set) var records: [UInt8] = []
  /// The lines of the file next to them.
  let details: [UInt8]
  let count: Int
  /// Whether the last record has no line end: of a record over the limits only the start is known.
  var needsLineEnd: Bool { Self.isOpen(records.last) }

  init(_ plan: ChunkPlan, of chunk: ParsedChunk) {
    count = plan.rejected.count
    details = Self.details(plan, of: chunk)
    let (bytes, slices) = (chunk.block.bytes, chunk.block.records)
    var pending = 0..<0
    var needsLineEnd = false
    for index in plan.rejected {
      let range = slices[index].range
      if range.lowerBound == pending.upperBound, !pending.isEmpty, !needsLineEnd {
        pending = pending.lowerBound..<range.upperBound
      } else {
        records += bytes[pending]
        if needsLineEnd { records.append(UInt8(ascii: "\n")) }
        pending = range
      }
      needsLineEnd = Self.isOpen(range.isEmpty ? nil : bytes[range.upperBound - 1])
    }
    records += bytes[pending]
  }

  /// As the ledger has those of a shard.
  func row(firstRecord: Int) -> PlanTables.Rejects {
    PlanTables.Rejects(firstRecord: firstRecord, count: count, records: records, details: details)
  }

  /// From the ledger.
  init(_ row: PlanTables.Rejects) { self.init(records: row.records, details: row.details, count: row.count) }

  private init(records: [UInt8], details: [UInt8], count: Int) {
    (self.records, self.details, self.count) = (records, details, count)
  }

  private static func isOpen(_ last: UInt8?) -> Bool { last != UInt8(ascii: "\n") && last != UInt8(ascii: "\r") }

  /// A line for each rejected record: both lists are in the order of the records.
  private static func details(_ plan: ChunkPlan, of chunk: ParsedChunk) -> [UInt8] {
    var lines = RejectDetails(plan.issues)
    var next = 0
    for index in plan.rejected {
      let number = UInt64(chunk.block.number(ofRecordAt: index))
      while next < plan.issues.count, plan.issues.position(at: next).record < number { next += 1 }
      let first = next
      while next < plan.issues.count, plan.issues.position(at: next).record == number { next += 1 }
      if first < next { lines.append(first..<next) }
    }
    return lines.bytes
  }
}
