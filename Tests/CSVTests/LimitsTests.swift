@testable import CSV
import Foundation
import Testing

// Rule: memory is bounded whatever comes, and what is over a limit is one bad record, not the end of the file.

@Suite("What is over a limit is marked, and the rest of the file is read")
struct LimitsTests {
  private func limits(_ change: (inout CSVLimits) -> Void) -> CSVLimits {
    var limits = CSVLimits()
    change(&limits)
    return limits
  }

  @Test("A long field, a long record and many fields", arguments: [true, false])
  func marks(fast: Bool) throws {
    let long = String(repeating: "x", count: 100)
    let text = Array("a,b\n\(long),c\nd,e\n".utf8)
    let fields = try readAll(text, limits: limits { $0.fieldBytesMax = 50 }, fast: fast)
    #expect(fields.map(\.problems) == [[], .fieldTooLong, []])
    let records = try readAll(text, limits: limits { $0.recordBytesMax = 50 }, fast: fast)
    #expect(records.map { $0.problems.contains(.recordTooLong) } == [false, true, false])
    #expect(records[2].values == ["d", "e"] && records[2].line == 3)
    let many = try readAll(Array("a\n1,2,3,4\nb\n".utf8), limits: limits { $0.fieldsMax = 3 }, fast: fast)
    #expect(many.map { $0.problems.contains(.tooManyFields) } == [false, true, false])
    #expect(many[2].values == ["b"])
  }

  @Test("A quote that is never closed costs its own record, not 64 MB of memory and not the file")
  func unterminated() throws {
    let line = Array("2020-01-01,Rincon,3\n".utf8)
    let head = Array("2020-01-01,\"Rincon,3\n".utf8)
    let lines = (64 << 20) / line.count
    let total = head.count + lines * line.count
    var sent = 0
    // The head once, then the line again and again, in pieces of whatever size is asked for.
    let input = try RawInput(
      .generator { buffer in
        let count = min(buffer.count, total - sent)
        for index in 0..<count {
          let place = sent + index
          buffer[index] = place < head.count ? head[place] : line[(place - head.count) % line.count]
        }
        sent += count
        return count
      }, name: "generated")
    var small = CSVLimits()
    small.recordBytesMax = 1 << 20
    let reader = try CSVReader(ByteSource(input), dialect: CSVDialect(hasHeader: false), limits: small)
    var block = RecordBlock()
    var (records, bad, largest) = (0, 0, 0)
    while try reader.next(into: &block, recordsMax: 5000) {
      records += block.records.count
      bad += block.records.count { !$0.problems.isEmpty }
      largest = max(largest, block.bytes.count)
    }
    #expect(records == lines + 1)
    #expect(bad == 1)
    #expect(largest < 4 << 20)
  }
}
