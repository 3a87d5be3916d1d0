import ManagedObjectModel

extension PendingSegment {
  /// Live rows that break a rule of the model, found without making objects. A row whose object is newer than its
  /// packed values is included, so that it is checked in full.
  ///
  /// - Parameter deferred: The deferred links of the context's objects.
  func invalidRows(toleratingMissingRelationships isTolerant: Bool, _ deferred: DeferredLinks) -> [Int] {
    let lists = isTolerant || batch.linksAllMandatory ? [] : deferred.mandatoryLists(of: self)
    guard let lists else { return Array(liveRows) }
    // Predicates of a relationship are evaluated on objects, and objects know how many lead to them.
    let needsObjects = { (relationship: NSRelationshipDescription) in
      relationship.isToMany || !relationship.validationPredicates.isEmpty
    }
    if !isTolerant, batch.entity.checkedRelationships.contains(where: needsObjects) { return Array(liveRows) }
    var suspects = batch.suspectRows()
    if !isTolerant { batch.noteMissingLinks(&suspects) }
    var isUnlinked = [Bool](repeating: false, count: lists.isEmpty ? 0 : batch.count)
    for list in lists { list.noteMissing(&isUnlinked) }
    handles.forEach { row, handle in if handle.state.contains(.unpacked) { suspects[row] = true } }
    // Nearly no row is suspect.
    for row in isUnlinked.indices where isUnlinked[row] { suspects[row] = true }
    return suspects.indices.filter { row in
      guard suspects[row], isLive(row) else { return false }
      return !isUnlinked.isEmpty && isUnlinked[row] || handles[row]?.state.contains(.unpacked) == true
        || batch.violation(row: row, toleratingMissingRelationships: isTolerant) != nil
    }
  }
}

extension DeferredLinks {
  /// The lists of all mandatory relationships of a segment's objects; nil if one has none, or leads to an object that is
  /// gone.
  fileprivate func mandatoryLists(of segment: PendingSegment) -> [List]? {
    guard !isEmpty, leadToPresentObjects else { return nil }
    let found = segment.entity.mandatoryRelationships.map { needed in
      lists.first { $0.relationship === needed && $0.segment === segment }
    }
    return found.contains { $0 == nil } ? nil : found.compactMap(\.self)
  }
}

extension DeferredLinks.List {
  /// Marks the rows without a link.
  fileprivate func noteMissing(_ isUnlinked: inout [Bool]) {
    var next = 0
    for link in links {
      for row in next..<Int(link.row) { isUnlinked[row] = true }
      next = Int(link.row) + 1
    }
    for row in next..<max(next, isUnlinked.count) { isUnlinked[row] = true }
  }
}
