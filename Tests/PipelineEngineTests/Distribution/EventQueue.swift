/// Events in the order of their times; those of the same time in the order in which they were added.
struct EventQueue<Event> {
  private var heap: [(time: Double, number: Int, event: Event)] = []
  private var count = 0

  mutating func add(_ event: Event, at time: Double) {
    count += 1
    heap.append((time, count, event))
    var index = heap.count - 1
    while index > 0, precedes(index, (index - 1) / 2) {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func next() -> (time: Double, event: Event)? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    guard !heap.isEmpty else { return (first.time, first.event) }
    heap[0] = last
    var index = 0
    while true {
      let children = [2 * index + 1, 2 * index + 2].filter { $0 < heap.count }
      guard let least = children.min(by: { precedes($0, $1) }), precedes(least, index) else { break }
      heap.swapAt(index, least)
      index = least
    }
    return (first.time, first.event)
  }

  private func precedes(_ left: Int, _ right: Int) -> Bool {
    (heap[left].time, heap[left].number) < (heap[right].time, heap[right].number)
  }
}
