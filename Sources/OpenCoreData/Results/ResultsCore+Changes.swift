import Foundation

/// Following the changes of the context.
extension ResultsCore {
  func contextDidChange(_ info: [AnyHashable: Any]) {
    guard let query = followed() else { return }
    waiting.add(info, in: context, query)
    followWaiting()
  }

  /// The context announced only those updated objects that it had. Others may match only now.
  func contextDidMerge(_ info: [AnyHashable: Any]) {
    guard let query = followed() else { return }
    waiting.addUnknown(updatedIn: info, in: context, query)
    followWaiting()
  }

  /// The query of the list; nil if there is no delegate, or no list to update.
  private func followed() -> FetchQuery? {
    guard list != nil, let query else { return nil }
    if delegate == nil { isStale = true }
    return delegate == nil ? nil : query
  }

  private func followWaiting() {
    // Changes that a delegate makes during a report are reported after it.
    guard !isReporting else { return }
    isReporting = true
    defer { isReporting = false }
    while !waiting.isEmpty, let old = list, let query {
      var touched = waiting
      waiting = TouchedObjects()
      touched.findDeleted(among: old.objects)
      if touched.isAll || isStale {
        refetch(old) { _ in true }
      } else if isFetchCheaper(touched.objects, in: old, query: query) {
        refetch(old) { touched.objects[ObjectIdentifier($0)] != nil }
      } else {
        follow(touched.objects, from: old, query: query)
      }
    }
  }

  /// With a batch size, examining most of a list object by object would load what the batches leave out.
  private func isFetchCheaper(
    _ touched: [ObjectIdentifier: NSManagedObject], in old: ResultsList, query: FetchQuery
  ) -> Bool {
    let batchSize = currentRequest().fetchBatchSize
    // Limit and offset apply to the first fetch.
    guard batchSize > 0, query.limit == 0, query.offset == 0, touched.count > batchSize else { return false }
    return touched.values.count { $0.isFault && $0.values.isEmpty } > max(batchSize, old.objects.count / 2)
  }

  // MARK: Object by object

  private func follow(_ touched: [ObjectIdentifier: NSManagedObject], from old: ResultsList, query: FetchQuery) {
    let alive = touched.values.filter { $0.managedObjectContext === context && !$0.isDeleted }
    context.loadTogether(alive)
    let order = ResultsOrder(query)
    var arrivals = alive.filter { isMember($0, query) }.map { order.keyed($0) }
    arrivals.sort(by: order.areInIncreasingOrder)
    var rankOfTouched: [ObjectIdentifier: Int] = [:]
    var untouched: [Int] = []
    untouched.reserveCapacity(old.objects.count)
    for (rank, object) in old.objects.enumerated() {
      let identity = ObjectIdentifier(object)
      if touched[identity] == nil { untouched.append(rank) } else { rankOfTouched[identity] = rank }
    }
    guard !arrivals.isEmpty || !rankOfTouched.isEmpty else { return }

    var (entries, next) = ([Entry](), 0)
    entries.reserveCapacity(untouched.count + arrivals.count)
    let sectionOfRank = sectionNameKeyPath == nil ? [] : old.sectionNumbers
    func addUntouched(upTo end: Int) {
      for rank in untouched[next..<max(next, end)] {
        let section = sectionNameKeyPath == nil ? "" : old.sections[sectionOfRank[rank]].name
        entries.append(
          Entry(
            object: old.objects[rank], section: section, origin: .init(rank: rank, isTouched: false, keepsOrder: true)))
      }
      next = max(next, end)
    }
    for arrival in arrivals {
      addUntouched(upTo: order.insertionIndex(of: arrival, among: untouched.count) { old.objects[untouched[$0]] })
      let origin = ResultsChanges.Origin(
        rank: rankOfTouched[ObjectIdentifier(arrival.object)], isTouched: true, keepsOrder: false)
      entries.append(Entry(object: arrival.object, section: sectionName(of: arrival.object), origin: origin))
    }
    addUntouched(upTo: untouched.count)
    let new = sectioned(&entries)
    report(ResultsChanges(from: old, to: new, origins: entries.map(\.origin)), from: old, to: new)
  }

  /// An object of a new list.
  private struct Entry {
    let object: NSObject
    let section: String
    let origin: ResultsChanges.Origin
  }

  /// Whether the request matches `object` as it is now. An object whose row is gone does not match.
  private func isMember(_ object: NSManagedObject, _ query: FetchQuery) -> Bool {
    if object.isFault {
      if object.values.isEmpty, (try? context.existingObject(with: object.objectID)) == nil { return false }
      if object.isFault { object.fireFault() }
    }
    return !object.isDeleted && (try? query.matches(object)) == true && block?.evaluate(with: object) ?? true
  }

  /// A section begins at its first object; objects that the order puts elsewhere are added to it too.
  private func sectioned(_ entries: inout [Entry]) -> ResultsList {
    guard sectionNameKeyPath != nil else { return ResultsList(entries.map(\.object)) }
    var groups: [String: [Entry]] = [:]
    var names: [String] = []
    for entry in entries {
      if groups[entry.section] == nil { names.append(entry.section) }
      groups[entry.section, default: []].append(entry)
    }
    entries = names.flatMap { groups[$0] ?? [] }
    return ResultsList(entries.map(\.object), sections: names.map { ($0, groups[$0]?.count ?? 0) })
  }

  // MARK: By another fetch

  /// Fetches again and reports the differences. An object that the context made again is recognised by its ID.
  private func refetch(_ old: ResultsList, isTouched: (NSObject) -> Bool) {
    let new: ResultsList
    do {
      new = try fetch(currentRequest())
      isStale = false
    } catch {
      // The old list is no longer valid; the next change tries again.
      new = sectionNameKeyPath == nil ? ResultsList([]) : ResultsList([], sections: [])
      isStale = true
    }
    var ranks: [ObjectKey: Int] = [:]
    for (rank, object) in old.objects.enumerated() {
      if let object = object as? NSManagedObject { ranks[object.objectID.key] = rank }
    }
    let origins = new.objects.map { object in
      ResultsChanges.Origin(
        rank: (object as? NSManagedObject).flatMap { ranks[$0.objectID.key] }, isTouched: isTouched(object),
        keepsOrder: false)
    }
    report(ResultsChanges(from: old, to: new, origins: origins), from: old, to: new)
  }
}

/// The order of a request, for finding the index of an object.
struct ResultsOrder {
  private let keys: [SortKey]

  init(_ query: FetchQuery) { keys = query.sortKeys }

  struct Keyed {
    let object: NSManagedObject
    let values: [StoredValue]
    let key: ObjectKey
  }

  func keyed(_ object: NSManagedObject) -> Keyed {
    if object.isFault { object.fireFault() }
    let values = keys.map { key in
      (try? AttributePath(key.keyPath, of: object.entity)).map(object.readableValue) ?? .null
    }
    return Keyed(object: object, values: values, key: object.objectID.key)
  }

  /// Equal objects are in the order of a fetch: by key, those that were never saved last.
  func areInIncreasingOrder(_ left: Keyed, _ right: Keyed) -> Bool {
    for (index, key) in keys.enumerated() {
      let order = key.compare(left.values[index], right.values[index])
      if order != .orderedSame { return order == .orderedAscending }
    }
    if left.key.isTemporary != right.key.isTemporary { return right.key.isTemporary }
    return (left.key.scope, left.key.number) < (right.key.scope, right.key.number)
  }

  /// How many of `count` sorted objects come before `arrival`. A binary search.
  func insertionIndex(of arrival: Keyed, among count: Int, _ object: (Int) -> NSObject) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      guard let other = object(middle) as? NSManagedObject else { return low }
      if areInIncreasingOrder(keyed(other), arrival) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
