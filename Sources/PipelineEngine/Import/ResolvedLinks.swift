import OpenCoreData
import PersistentStores

/// What the records of a chunk name, looked up.
struct ResolvedLinks {
  /// An object that records can lead to.
  enum Target {
    case stored(NSManagedObjectID)
    /// One that is to be created; `isKnown` if a dry run has already counted it.
    case new(KeyDigest, isKnown: Bool)
    case missing
    case ambiguous
  }

  /// One relationship.
  struct Link {
    let link: EntityLink
    let values: LinkedValues
    /// By row of the values the index of its object; -1 for a row that names none.
    fileprivate(set) var targetOfRow: [Int32] = []
  }

  private(set) var links: [Link] = []
  /// For each of them.
  private(set) var isToOne: [Bool] = []
  /// The different objects that the chunk names.
  private(set) var targets: [Target] = []
  /// By group of links, the index of each target.
  private var known: [Int: [KeyDigest: Int32]] = [:]

  /// Adds the names of one relationship, which `index` knows.
  mutating func add(_ link: EntityLink, _ values: LinkedValues, in index: LinkIndex) {
    var added = Link(link: link, values: values)
    added.targetOfRow.reserveCapacity(values.digests.count)
    targets.reserveCapacity(targets.count + values.digests.count)
    var known = known.removeValue(forKey: link.group) ?? [:]
    for digest in values.digests {
      if digest == .none {
        added.targetOfRow.append(-1)
      } else if let target = known[digest] {
        added.targetOfRow.append(target)
      } else {
        known[digest] = Int32(targets.count)
        added.targetOfRow.append(Int32(targets.count))
        targets.append(target(digest, link, in: index))
      }
    }
    self.known[link.group] = known
    links.append(added)
    isToOne.append(values.starts == nil)
  }

  private func target(_ digest: KeyDigest, _ link: EntityLink, in index: LinkIndex) -> Target {
    switch index.find(digest) {
    case .stored(let id): .stored(id)
    case .several: .ambiguous
    case .unsaved: .new(digest, isKnown: true)
    case .none: link.policy == .create ? .new(digest, isKnown: false) : .missing
    }
  }

  /// Whether a row of the chunk leads to an object.
  func leads(_ row: Int, _ link: Link) -> Bool {
    link.values.elements(ofRow: row).contains { element in
      guard link.targetOfRow[element] >= 0 else { return false }
      if case .missing = targets[Int(link.targetOfRow[element])] { return false }
      return true
    }
  }

  /// Why a row of the chunk can't be imported.
  func problem(ofRow row: Int, _ link: Link) -> (code: IssueCode, message: String)? {
    for element in link.values.elements(ofRow: row) {
      let target = link.targetOfRow[element]
      if target < 0 {
        if let problem = link.unnamed(element) { return problem }
        continue
      }
      switch targets[Int(target)] {
      case .stored, .new: continue
      case .missing where link.link.policy == .leave: continue
      case .missing:
        return (
          .missingObject,
          "the store has no \(link.link.destinationName) with \(link.words(element)); import it first, correct the "
            + "record, or set \"ifMissing\" to create or leave"
        )
      case .ambiguous:
        return (
          .ambiguousObject,
          "the store has several \(link.link.destinationName) with \(link.words(element)), and none of them is chosen; "
            + "correct the store, or name more attributes with \"by\""
        )
      }
    }
    return nil
  }
}

extension ResolvedLinks.Link {
  /// What is wrong with an object that has values and no name.
  fileprivate func unnamed(_ element: Int) -> (code: IssueCode, message: String)? {
    guard link.separator == nil else { return nil }
    let others = link.filledSlots.sorted().filter { values.batch.cell(row: element, slot: $0).kind != .null }
    guard let first = others.first else { return nil }
    return (
      .missingObject,
      "the record has a value for \(link.name).\(link.entity.attributeSlots[first].name), and "
        + "\(link.by.map { "\(link.name).\($0)" }.joined(separator: ", ")) is empty, which says whose it is; fill it in"
    )
  }

  fileprivate func words(_ element: Int) -> String {
    link.by.compactMap { name in
      link.entity.slot(named: name).map { "\(name) \(text(element, slot: $0))" }
    }.joined(separator: ", ")
  }

  /// The names in a row of the chunk.
  func shownValue(ofRow row: Int) -> String {
    let slots = link.by.compactMap { link.entity.slot(named: $0) }
    return values.elements(ofRow: row).map { element in
      slots.map { text(element, slot: $0) }.joined(separator: ", ")
    }.joined(separator: link.separator.map { String(decoding: $0, as: UTF8.self) } ?? "")
  }

  private func text(_ element: Int, slot: Int) -> String {
    let cell = values.batch.cell(row: element, slot: slot)
    switch cell.kind {
    case .null: return ""
    case .integer: return "\(cell.integer)"
    case .real where link.entity.attributeSlots[slot].attributeType == .dateAttributeType:
      return DateFormat.iso8601.string(cell.real) ?? "\(cell.real)"
    case .real: return "\(cell.real)"
    case .text, .decimal: return RawText.shortened(values.batch.bytes(of: cell))
    case .blob: return "\(cell.length) bytes"
    }
  }
}
