extension PendingSegment {
  /// Live rows that break a rule of the model, found without making objects. A row whose object is newer than its
  /// packed values is included, so that it is checked in full.
  func invalidRows(toleratingMissingRelationships isTolerant: Bool) -> [Int] {
    if !isTolerant, !batch.linksAllMandatory { return Array(liveRows) }
    // Predicates of a relationship are evaluated on objects.
    if !isTolerant, batch.entity.checkedRelationships.contains(where: { !$0.validationPredicates.isEmpty }) {
      return Array(liveRows)
    }
    var suspects = batch.suspectRows()
    if !isTolerant { batch.noteMissingLinks(&suspects) }
    handles.forEach { row, handle in if handle.state.contains(.unpacked) { suspects[row] = true } }
    var invalid: [Int] = []
    for row in suspects.indices where suspects[row] && isLive(row) {
      let isUnpacked = handles[row]?.state.contains(.unpacked) == true
      if isUnpacked || batch.violation(row: row, toleratingMissingRelationships: isTolerant) != nil {
        invalid.append(row)
      }
    }
    return invalid
  }
}
