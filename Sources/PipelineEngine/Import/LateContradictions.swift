import OpenCoreData

/// What a run says of relationships from both ends: a spot names its sessions, and the sessions their spot.
extension LateLinkRun {
  /// One end of a relationship, as columns of a part lead over it.
  private struct End: Hashable {
    let part: Int
    let link: Int
  }

  /// What the records of the run say of one relationship of an entry, by its primary key.
  private struct EntryEnd: Hashable {
    let end: End
    let key: Int64
  }

  private struct Statement: Equatable {
    let input: Int
    let naming: Int
  }

  /// Refuses records that name entries whose own records lead elsewhere over the other end. Entries that no record of the
  /// run states from there say nothing.
  func refuseContradictions() {
    let opposites = opposites()
    if opposites.isEmpty { return }
    let refused = Set(refusedRecords())
    // Where several records have the key of one entry, the last one decides.
    var statements: [EntryEnd: Statement] = [:]
    for (number, input) in late.inputs.enumerated() {
      for (index, naming) in input.namings.enumerated() {
        let end = End(part: input.part, link: naming.link)
        if opposites[end] == nil || refused.contains(LateRecord(input: number, number: naming.record)) { continue }
        statements[EntryEnd(end: end, key: naming.key)] = Statement(input: number, naming: index)
      }
    }
    for (number, input) in late.inputs.enumerated() {
      for (index, naming) in input.namings.enumerated() {
        let end = End(part: input.part, link: naming.link)
        let isLast = statements[EntryEnd(end: end, key: naming.key)] == Statement(input: number, naming: index)
        guard isLast, let others = opposites[end] else { continue }
        for element in naming.elements {
          guard let key = targets[number][element]?.storeKey else { continue }
          let answers = others.compactMap { statements[EntryEnd(end: $0, key: key)] }
          guard let answer = answers.first(where: { !leads($0, to: naming.key) }) else { continue }
          refuse(naming, of: input, over: link(naming, of: input), answeredBy: answer, element: element)
        }
      }
    }
  }

  /// For each end that records state, the ends that they state for the same relationship from its other side.
  private func opposites() -> [End: [End]] {
    var all: [(end: End, relationship: NSRelationshipDescription)] = []
    for (part, one) in parts.enumerated() {
      for (index, link) in one.environment.links.enumerated() where link.isPaired {
        all.append((End(part: part, link: index), link.relationship))
      }
    }
    return all.reduce(into: [:]) { opposites, one in
      opposites[one.end] = all.filter { $0.relationship === one.relationship.inverseRelationship }.map(\.end)
    }
  }

  /// Whether a record leads to the entry with a primary key.
  private func leads(_ statement: Statement, to key: Int64) -> Bool {
    let naming = late.inputs[statement.input].namings[statement.naming]
    return naming.elements.contains { targets[statement.input][$0]?.storeKey == key }
  }

  private func refuse(
    _ naming: LateLinks.Naming, of input: LateLinks.Input, over link: EntityLink, answeredBy statement: Statement,
    element: Int
  ) {
    let other = late.inputs[statement.input]
    let answer = other.namings[statement.naming]
    let back = self.link(answer, of: other)
    refuse(naming, of: input, over: link, code: .differentObject, element: element) {
      "the record leads to the \(link.destinationName) with \($0), whose own record, number \(answer.record) of "
        + "\(other.path), leads \(answer.elements.isEmpty ? "to nothing" : "elsewhere") over '\(back.name)'; correct one of "
        + "the two, so that both ends say the same"
    }
  }
}
