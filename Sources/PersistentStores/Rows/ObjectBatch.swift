import ManagedObjectModel
import Foundation

/// The packed attribute values of many objects of one entity: a 16-byte cell per attribute, row after row, and one
/// arena for the bytes of texts and blobs.
///
/// Values always have this form while they wait in a context, move up a chain and are written to or read from a store,
/// for objects inserted singly and in bulk. An `NSManagedObject` is a handle that is materialised for a single row on
/// access. Passing a batch to another context is cheap: its arrays are shared until one side writes.
///
/// A *slot* addresses an attribute: its position among all attributes of the entity, including those of its
/// superentities, sorted by name (`NSEntityDescription.slot(named:)`).
///
/// ```swift
/// var batch = ObjectBatch(entity: entity, rowCapacity: ratings.count)
/// for rating in ratings {
///   batch.appendRow()
///   batch.setInteger(rating, at: slot)
/// }
/// context.insert(batch)
/// try context.save()
/// ```
public struct ObjectBatch: Sendable {
  /// The entity of the objects.
  public let entity: NSEntityDescription
  /// The number of objects.
  public private(set) var count = 0

  /// Cells per row: the number of attributes of the entity.
  package let slotCount: Int
  package private(set) var cells: [ValueCell]
  package private(set) var arena: [UInt8]

  /// To-one relationships of the rows, of those relationships that were set; empty for most batches.
  package internal(set) var links: [BatchLink] = []

  /// The values at the ends of key paths that a query requested, row after row; their bytes are in `arena`.
  private var extraCells: [ValueCell] = []

  /// The start of the last row's bytes in the arena, so that the row can be removed.
  private var lastRowArenaStart = 0
  private let emptyRow: [ValueCell]

  /// Shared by all copies of the batch; its reference count shows whether there are copies.
  private final class Holder: Sendable {}
  private var holder = Holder()

  /// An empty batch for objects of `entity`.
  ///
  /// - Parameters:
  ///   - entity: The entity of every object in the batch; not abstract.
  ///   - rowCapacity: The number of rows to reserve memory for; more may be appended.
  public init(entity: NSEntityDescription, rowCapacity: Int = 0) {
    // The caller's mistake: it has the entity. Rows of stores have been checked (`SelectPlan.layout`).
    precondition(!entity.isAbstract, "Objects of the abstract entity \(entity.name ?? "") can't be made.")
    self.entity = entity
    slotCount = entity.attributeSlots.count
    emptyRow = Array(repeating: .null, count: slotCount)
    cells = []
    cells.reserveCapacity(rowCapacity * slotCount)
    arena = []
  }

  /// Creates a batch from existing rows.
  ///
  /// - Parameters:
  ///   - count: The number of rows.
  ///   - cells: One for each attribute, row after row.
  ///   - arena: The bytes that the cells of texts and blobs refer to.
  package init(entity: NSEntityDescription, count: Int, cells: [ValueCell], arena: [UInt8]) {
    self.init(entity: entity)
    // The caller's mistake: it has made the cells.
    precondition(cells.count == count * slotCount, "Each row has a cell for each attribute.")
    self.count = count
    self.cells = cells
    self.arena = arena
    lastRowArenaStart = arena.count
  }

  // MARK: Appending

  /// Appends an object whose values are all nil (the model's defaults do not apply).
  public mutating func appendRow() {
    cells.append(contentsOf: emptyRow)
    lastRowArenaStart = arena.count
    count += 1
  }

  /// Removes the row that was appended last.
  public mutating func removeLastRow() {
    // The caller's mistake: it knows `count`.
    precondition(count > 0, "The batch has no row to remove.")
    cells.removeLast(slotCount)
    arena.removeLast(arena.count - lastRowArenaStart)
    count -= 1
    for index in links.indices { links[index].truncate(to: count) }
  }

  /// Removes all rows and keeps the memory allocated.
  public mutating func removeAll() {
    cells.removeAll(keepingCapacity: true)
    extraCells.removeAll(keepingCapacity: true)
    arena.removeAll(keepingCapacity: true)
    links.removeAll()
    lastRowArenaStart = 0
    count = 0
  }

  /// Whether there are no copies, so that new rows can overwrite the memory of the old ones.
  package mutating func isUnshared() -> Bool { isKnownUniquelyReferenced(&holder) }

  /// Removes the rows with these numbers; the others keep their order.
  public mutating func removeRows(_ rows: Set<Int>) {
    var kept: [ValueCell] = []
    kept.reserveCapacity(cells.count)
    for row in 0..<count where !rows.contains(row) {
      kept.append(contentsOf: cells[(row * slotCount)..<((row + 1) * slotCount)])
    }
    for index in links.indices { links[index].keep((0..<count).filter { !rows.contains($0) }) }
    cells = kept
    count = slotCount == 0 ? count - rows.count : kept.count / slotCount
    lastRowArenaStart = arena.count
  }

  /// Keeps the rows with these numbers, in their order.
  package mutating func keepRows(_ rows: [Int]) {
    var kept: [ValueCell] = []
    kept.reserveCapacity(rows.count * slotCount)
    for row in rows { kept.append(contentsOf: cells[(row * slotCount)..<((row + 1) * slotCount)]) }
    for index in links.indices { links[index].keep(rows) }
    cells = kept
    count = rows.count
    lastRowArenaStart = arena.count
  }

  /// Appends the values of another batch of the entity, which has no values of key paths.
  package mutating func append(_ other: ObjectBatch) {
    let offset = arena.count
    for cell in other.cells {
      cells.append(cell.kind.isInCell ? cell : ValueCell(cell.kind, offset: cell.offset + offset, length: cell.length))
    }
    arena.append(contentsOf: other.arena)
    count += other.count
    lastRowArenaStart = arena.count
  }

  /// Removes the rows behind the first `count`.
  package mutating func truncate(to count: Int) {
    guard count < self.count else { return }
    cells.removeLast((self.count - count) * slotCount)
    extraCells.removeLast(extraCells.count / self.count * (self.count - count))
    for index in links.indices { links[index].truncate(to: count) }
    self.count = count
    lastRowArenaStart = arena.count
  }

  /// Reserves a total of `byteCount` bytes for texts.
  public mutating func reserveText(_ byteCount: Int) { arena.reserveCapacity(byteCount) }

  /// Sets an integer or Boolean attribute of the last row.
  @inline(__always)
  public mutating func setInteger(_ value: Int64, at slot: Int) {
    cells[cells.count - slotCount + slot] = ValueCell(integer: value)
  }

  /// Sets a Double, Float or Date attribute (seconds since 2001-01-01 UTC) of the last row.
  @inline(__always)
  public mutating func setReal(_ value: Double, at slot: Int) {
    cells[cells.count - slotCount + slot] = ValueCell(real: value)
  }

  /// Sets a String or URI attribute of the last row to the bytes of `utf8`, which must be valid UTF-8.
  @inline(__always)
  public mutating func setText(_ utf8: ArraySlice<UInt8>, at slot: Int) {
    cells[cells.count - slotCount + slot] = ValueCell(.text, offset: arena.count, length: utf8.count)
    arena.append(contentsOf: utf8)
  }

  /// Sets an attribute of the last row to the bytes that `append` adds to the arena: a text, a blob, or the digits of a
  /// decimal.
  package mutating func setBytes(_ kind: ValueCell.Kind, at slot: Int, _ append: (inout [UInt8]) -> Void) {
    let start = arena.count
    append(&arena)
    cells[cells.count - slotCount + slot] = ValueCell(kind, offset: start, length: arena.count - start)
  }

  /// Sets a String or URI attribute of the last row.
  public mutating func setText(_ text: String, at slot: Int) {
    setValue(.text(text), row: count - 1, slot: slot)
  }

  // MARK: Single values

  // Inlined, so that accessing a batch in a stored property does not copy it, with reference counting for all its
  // arrays.
  @inline(__always)
  package func value(row: Int, slot: Int) -> StoredValue { value(of: cells[row * slotCount + slot]) }

  @inline(__always)
  private func value(of cell: ValueCell) -> StoredValue {
    switch cell.kind {
    case .null: .null
    case .integer: .integer(cell.integer)
    case .real: .real(cell.real)
    case .text, .blob, .decimal: Self.value(cell, in: arena)
    }
  }

  // The effect is declared for other modules, as that of `EntityLayout.slot(named:)`.

  /// The text of a cell; nil for another kind.
  @_effects(releasenone)
  package static func text(_ cell: ValueCell, in arena: [UInt8]) -> String? {
    cell.kind == .text ? String(decoding: arena[cell.range], as: UTF8.self) : nil
  }

  /// The value of a text, blob or decimal cell.
  package static func value(_ cell: ValueCell, in arena: [UInt8]) -> StoredValue {
    if cell.kind == .blob { return .blob(Data(arena[cell.range])) }
    let text = String(decoding: arena[cell.range], as: UTF8.self)
    return cell.kind == .text ? .text(text) : Decimal(string: text).map(StoredValue.decimal) ?? .null
  }

  package func cell(row: Int, slot: Int) -> ValueCell { cells[row * slotCount + slot] }

  /// The value of the key path with index `index` among those that the query requested.
  package func extraCell(row: Int, _ index: Int) -> ValueCell { extraCells[row * (extraCells.count / count) + index] }

  /// The same as a single value.
  package func extraValue(row: Int, _ index: Int) -> StoredValue { value(of: extraCell(row: row, index)) }

  /// Adds a key path's value to the last row, in the order of the key paths.
  package mutating func appendExtra(_ fill: (inout [UInt8]) -> ValueCell) { extraCells.append(fill(&arena)) }

  package func values(row: Int) -> [StoredValue] { (0..<slotCount).map { value(row: row, slot: $0) } }

  /// The bytes of a text or blob value; nil for any other kind.
  package func bytes(row: Int, slot: Int) -> ArraySlice<UInt8>? {
    let cell = cells[row * slotCount + slot]
    return cell.kind == .text || cell.kind == .blob ? arena[cell.range] : nil
  }

  /// The bytes of a text or blob cell of this batch.
  package func bytes(of cell: ValueCell) -> ArraySlice<UInt8> { arena[cell.range] }

  /// Replaces one value. The bytes of an old text stay in the arena, unused, as long as the batch exists.
  package mutating func setValue(_ value: StoredValue, row: Int, slot: Int) {
    // A text set later may be stored after the last row's bytes: from here on the arena is never truncated.
    defer { lastRowArenaStart = arena.count }
    cells[row * slotCount + slot] = cell(of: value)
  }

  /// Replaces one value, if that copies nothing and leaves no bytes unused.
  ///
  /// - Returns: Whether it was replaced.
  package mutating func replaceInPlace(_ value: StoredValue, row: Int, slot: Int) -> Bool {
    guard isUnshared() else { return false }
    let index = row * slotCount + slot
    switch (cells[index].kind, value) {
    case (.null, .null), (.null, .integer), (.null, .real), (.null, .text), (.integer, .integer), (.real, .real):
      setValue(value, row: row, slot: slot)
      return true
    default: return false
    }
  }

  private mutating func cell(of value: StoredValue) -> ValueCell {
    switch value {
    case .null: .null
    case .integer(let number): ValueCell(integer: number)
    case .real(let number): ValueCell(real: number)
    case .text(let string): append(string.utf8, .text)
    case .blob(let data): append(data, .blob)
    case .decimal(let number): append("\(number)".utf8, .decimal)
    }
  }

  /// Copies the values in `slots` from the row `source` to the row `target`.
  package mutating func copyValues(from source: Int, to target: Int, slots: [Int]) {
    for slot in slots { cells[target * slotCount + slot] = cells[source * slotCount + slot] }
  }

  /// Copies values of a row of another batch as they are stored, if that copies nothing else and leaves no bytes unused.
  ///
  /// - Parameters:
  ///   - slots: Slots of this batch, each with that of the other one.
  ///   - row: A row of the other batch.
  ///   - target: The row that gets the values.
  /// - Returns: Whether they were copied.
  package mutating func copyInPlace(
    _ slots: [(slot: Int, source: Int)], from row: Int, of other: ObjectBatch, to target: Int
  ) -> Bool {
    let (start, sourceStart) = (target * slotCount, row * other.slotCount)
    guard isUnshared(), slots.allSatisfy({ cells[start + $0.slot].kind.isInCell }) else { return false }
    for (slot, source) in slots {
      let cell = other.cells[sourceStart + source]
      if cell.kind.isInCell {
        cells[start + slot] = cell
      } else {
        cells[start + slot] = ValueCell(cell.kind, offset: arena.count, length: cell.length)
        arena.append(contentsOf: other.arena[cell.range])
      }
    }
    lastRowArenaStart = arena.count
    return true
  }

  /// Inserts a row's cells among others, and appends its bytes to theirs.
  package func copyRow(_ row: Int, to target: inout [ValueCell], at start: Int, _ targetArena: inout [UInt8]) {
    for slot in 0..<slotCount {
      let cell = cells[row * slotCount + slot]
      switch cell.kind {
      case .null, .integer, .real: target[start + slot] = cell
      case .text, .blob, .decimal:
        target[start + slot] = ValueCell(cell.kind, offset: targetArena.count, length: cell.length)
        targetArena.append(contentsOf: arena[cell.range])
      }
    }
  }

  package mutating func setValues(_ values: [StoredValue], row: Int) {
    for (slot, value) in values.enumerated() { setValue(value, row: row, slot: slot) }
  }

  /// Adds the values of all key paths to the last row.
  package mutating func appendExtras(_ values: [StoredValue]) {
    for value in values { extraCells.append(cell(of: value)) }
  }

  /// Adds values to all rows, behind those of the key paths; each list has one for each row.
  package mutating func addExtras(_ lists: [[StoredValue]]) {
    guard count > 0, !lists.isEmpty else { return }
    let width = extraCells.count / count
    var all: [ValueCell] = []
    all.reserveCapacity(count * (width + lists.count))
    for row in 0..<count {
      all += extraCells[(row * width)..<((row + 1) * width)]
      for list in lists { all.append(cell(of: list[row])) }
    }
    extraCells = all
  }

  private mutating func append(_ bytes: some Collection<UInt8>, _ kind: ValueCell.Kind) -> ValueCell {
    let cell = ValueCell(kind, offset: arena.count, length: bytes.count)
    arena.append(contentsOf: bytes)
    return cell
  }

  /// Appends a row whose cells, one per slot, `fill` appends: the SQLite shim reads rows with it.
  package mutating func appendRow(_ fill: (_ cells: inout [ValueCell], _ arena: inout [UInt8]) throws -> Void) rethrows
  {
    lastRowArenaStart = arena.count
    try fill(&cells, &arena)
    count += 1
  }
}

/// One packed value: a number, or the position of its bytes in the arena.
@frozen package struct ValueCell: Sendable {
  @frozen package enum Kind: UInt8, Sendable { case null, integer, real, text, blob, decimal }

  @usableFromInline var bits: UInt64
  @usableFromInline var byteCount: UInt32
  package let kind: Kind

  @inlinable package static var null: ValueCell { ValueCell(.null, offset: 0, length: 0) }

  @inlinable @inline(__always) package init(integer: Int64) {
    (bits, byteCount, kind) = (UInt64(bitPattern: integer), 0, .integer)
  }
  @inlinable @inline(__always) package init(real: Double) { (bits, byteCount, kind) = (real.bitPattern, 0, .real) }
  @inlinable @inline(__always) package init(_ kind: Kind, offset: Int, length: Int) {
    (bits, byteCount, self.kind) = (UInt64(offset), UInt32(length), kind)
  }

  @inlinable @inline(__always) package var integer: Int64 { Int64(bitPattern: bits) }
  @inlinable @inline(__always) package var real: Double { Double(bitPattern: bits) }
  @inlinable @inline(__always) package var offset: Int { Int(bits) }
  @inlinable @inline(__always) package var length: Int { Int(byteCount) }
  @inlinable @inline(__always) package var range: Range<Int> { offset..<(offset + length) }
}

extension ValueCell.Kind {
  /// Whether the value needs no bytes in the arena.
  fileprivate var isInCell: Bool {
    switch self {
    case .null, .integer, .real: true
    case .text, .blob, .decimal: false
    }
  }
}
