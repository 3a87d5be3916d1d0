/// Buffers for the slices of one pass, reused by all passes.
final class ScanBuffers {
  let fields: UnsafeMutablePointer<FieldSlice>
  let fieldCapacity: Int
  let records: UnsafeMutablePointer<RecordSlice>
  let recordCapacity: Int

  /// The capacity always suffices for one record's fields and those of one more mask word.
  init(fieldsMax: Int, recordCapacity: Int = 4096) {
    fieldCapacity = max(fieldsMax + 2 * 64 + 2, 6 * recordCapacity)
    self.recordCapacity = recordCapacity
    fields = .allocate(capacity: fieldCapacity)
    records = .allocate(capacity: recordCapacity)
  }

  deinit {
    fields.deallocate()
    records.deallocate()
  }
}

/// The result of a pass. Offsets are found in the window and shifted to the block and the input.
struct ScanOutput {
  let fields: UnsafeMutablePointer<FieldSlice>
  let fieldCapacity: Int
  let records: UnsafeMutablePointer<RecordSlice>
  let recordCapacity: Int
  /// Number of fields already in the block.
  let fieldBase: Int
  /// Window offset + this = offset in the block.
  let blockShift: Int
  /// Window offset + this = offset in the input.
  let inputShift: Int

  var fieldCount = 0
  var recordCount = 0
  /// Window offset at which the next record starts.
  var next: Int
  /// Line at which the next record starts.
  var line: Int

  @inline(__always)
  mutating func addField(start: Int, end: Int, flags: UInt32) {
    let first = UInt32(truncatingIfNeeded: start &+ blockShift)
    let length = UInt32(truncatingIfNeeded: end &- start)
    fields[fieldCount] = FieldSlice(first: first, length: length, flags: flags)
    fieldCount &+= 1
  }

  /// Closes the record from `next` to `end`; the following bytes begin the next record.
  /// - Parameters:
  ///   - contentEnd: where its line end starts.
  ///   - firstField: the `fieldCount` at which its fields began.
  ///   - nextLine: the line after it.
  ///   - linesInDoubt: how many of the next lines its open quote may have claimed.
  @inline(__always)
  mutating func addRecord(
    contentEnd: Int, end: Int, firstField: Int, problems: RecordProblems, nextLine: Int, linesInDoubt: Int = 0,
    rules: ScanRules
  ) {
    if rules.toleratesTrailingDelimiter { dropTrailingField(firstField, rules) }
    if !(rules.skipsBlankLines && problems.contains(.blank)) {
      records[recordCount] = RecordSlice(
        firstField32: UInt32(truncatingIfNeeded: fieldBase &+ firstField),
        fieldCount32: UInt32(truncatingIfNeeded: fieldCount &- firstField),
        start32: UInt32(truncatingIfNeeded: next &+ blockShift),
        end32: UInt32(truncatingIfNeeded: end &+ blockShift),
        line: line, byteOffset: next &+ inputShift, problems: problems,
        lineEndBytes: UInt8(truncatingIfNeeded: end &- contentEnd),
        linesInDoubt32: UInt32(truncatingIfNeeded: linesInDoubt))
      recordCount &+= 1
    }
    next = end
    line = nextLine
  }

  private mutating func dropTrailingField(_ firstField: Int, _ rules: ScanRules) {
    guard rules.columnCount > 0, fieldCount - firstField == rules.columnCount + 1 else { return }
    let last = fields[fieldCount - 1]
    if last.count == 0 && !last.isQuoted { fieldCount -= 1 }
  }
}
