/// How many objects entries lead to over each relationship, and how many names were left out.
struct LinkTally: Sendable, Equatable {
  /// By the index of the link in the pipeline.
  private(set) var counts: [Int: (linked: Int, leftOut: Int)] = [:]

  static func == (left: LinkTally, right: LinkTally) -> Bool { left.text == right.text }

  /// - Parameter link: The index of the link in the pipeline.
  mutating func add(link: Int, linked: Int, leftOut: Int) {
    let present = counts[link, default: (0, 0)]
    counts[link] = (present.linked + linked, present.leftOut + leftOut)
  }

  /// Adds another tally so many times.
  mutating func add(_ other: LinkTally, times: Int = 1) {
    for (link, count) in other.counts { add(link: link, linked: count.linked * times, leftOut: count.leftOut * times) }
  }

  /// As the tables of a plan have it; empty for nothing.
  var text: String {
    counts.filter { $0.value != (0, 0) }.sorted { $0.key < $1.key }
      .map { "\($0.key):\($0.value.linked):\($0.value.leftOut)" }.joined(separator: " ")
  }

  init() {}

  init(text: String) {
    for part in text.split(separator: " ") {
      let numbers = part.split(separator: ":").compactMap { Int($0) }
      if numbers.count == 3 { add(link: numbers[0], linked: numbers[1], leftOut: numbers[2]) }
    }
  }
}
