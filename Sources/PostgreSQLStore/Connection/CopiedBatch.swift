import Foundation
import PersistentStores

/// The values of a batch where they lie in memory, for the time of a copy.
struct CopiedBatch {
  let batch: ObjectBatch
  private let cells: UnsafeBufferPointer<ValueCell>
  private let arena: UnsafeRawBufferPointer
  /// Whether a text can have a NUL character.
  private let hasZeroBytes: Bool

  /// Calls `body` with the values of a batch, which it must not keep.
  static func with<Result>(_ batch: ObjectBatch, _ body: (CopiedBatch) throws -> Result) rethrows -> Result {
    try batch.cells.withUnsafeBufferPointer { cells in
      try batch.arena.withUnsafeBytes { arena in
        try body(CopiedBatch(batch: batch, cells: cells, arena: arena, hasZeroBytes: arena.hasZeroByte))
      }
    }
  }

  @inline(__always)
  func cell(row: Int, slot: Int) -> ValueCell { cells[row * batch.slotCount + slot] }

  @inline(__always)
  func bytes(_ cell: ValueCell) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: arena[cell.range]) }

  /// Whether a text has a NUL character.
  @inline(__always)
  func hasZeroByte(_ cell: ValueCell) -> Bool { hasZeroBytes && bytes(cell).hasZeroByte }
}

extension UnsafeRawBufferPointer {
  /// `memchr` looks at many bytes at once, which `contains` does not do.
  fileprivate var hasZeroByte: Bool { baseAddress.map { memchr($0, 0, count) != nil } ?? false }
}
