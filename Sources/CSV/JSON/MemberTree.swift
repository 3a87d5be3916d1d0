/// The members of JSON objects that were seen so far, with their uses. Members below one without a use are not kept.
struct MemberTree {
  struct Node {
    var use: MemberUse
    /// The range of the name in `names`.
    let name: Range<Int>
    /// The first member of it, and the next one of the same object; -1 for none.
    var firstChild = -1
    var sibling = -1
    /// The member that is expected next among its members: the order is usually that of the record before.
    var expected = -1
    /// The number of the last record that has it.
    var seenIn = 0
    /// Whether it is known to have no use.
    var isKnownExtra = false
  }

  /// Extra members that are kept, so that objects with identifiers as names don't fill the memory. A name beyond them
  /// is looked up each time, and not found to be a duplicate.
  static let extraMax = 1000
  /// Digests of extra members beyond these, so that each is reported once: 8 bytes each.
  static let digestsMax = 200_000
  static let root = 0

  let selection: MemberSelection
  private(set) var nodes: [Node]
  private(set) var labels: [String]
  private var names: [UInt8] = []
  private var extraCount = 0

  init(_ selection: MemberSelection) {
    self.selection = selection
    nodes = [Node(use: MemberUse(isContainer: true), name: 0..<0)]
    labels = [""]
  }

  /// Prepares for the members of an object.
  @inline(__always)
  mutating func begin(_ parent: Int) { nodes[parent].expected = nodes[parent].firstChild }

  /// Marks a member as seen in a record; false if it was.
  @inline(__always)
  mutating func mark(_ node: Int, seenIn record: Int) -> Bool {
    if nodes[node].seenIn == record { return false }
    nodes[node].seenIn = record
    return true
  }

  /// Called when an extra member is reported. Returns whether it is the last one that can be remembered: further ones are
  /// not reported any more.
  mutating func noteExtra(_ node: Int) -> Bool {
    nodes[node].isKnownExtra = true
    guard node == overflowNode, digests.insert(labels[node].hashValue).inserted else { return false }
    return digests.count == Self.digestsMax
  }

  /// The member of the name, which is added if it is new.
  @inline(__always)
  mutating func child(of parent: Int, _ name: Span<UInt8>) -> Int {
    let expected = nodes[parent].expected
    if expected >= 0, isName(name, of: expected) {
      nodes[parent].expected = nodes[expected].sibling
      return expected
    }
    return find(name, in: parent)
  }

  private mutating func find(_ name: Span<UInt8>, in parent: Int) -> Int {
    var (index, last) = (nodes[parent].firstChild, -1)
    while index >= 0 {
      if isName(name, of: index) {
        nodes[parent].expected = nodes[index].sibling
        return index
      }
      (last, index) = (index, nodes[index].sibling)
    }
    return add(name, to: parent, after: last)
  }

  @inline(__always)
  private func isName(_ name: Span<UInt8>, of index: Int) -> Bool {
    let known = nodes[index].name
    guard known.count == name.count else { return false }
    for offset in 0..<name.count where names[known.lowerBound &+ offset] != name[offset] { return false }
    return true
  }

  private mutating func add(_ name: Span<UInt8>, to parent: Int, after last: Int) -> Int {
    var bytes: [UInt8] = []
    for index in name.indices { bytes.append(name[index]) }
    let own = String(decoding: bytes, as: UTF8.self)
    let label = parent == Self.root ? own : labels[parent] + "." + own
    let use = selection.use(label)
    let isExtra = use.field == nil && !use.isContainer
    if isExtra {
      if extraCount == Self.extraMax { return overflow(label) }
      extraCount += 1
    }
    let start = names.count
    names += bytes
    nodes.append(Node(use: use, name: start..<names.count))
    labels.append(label)
    if last < 0 { nodes[parent].firstChild = nodes.count - 1 } else { nodes[last].sibling = nodes.count - 1 }
    return nodes.count - 1
  }

  /// One node, which belongs to no object, stands for every extra member beyond the limit.
  private mutating func overflow(_ label: String) -> Int {
    if overflowNode == nil {
      overflowNode = nodes.count
      nodes.append(Node(use: MemberUse(), name: 0..<0))
      labels.append(label)
    }
    let node = overflowNode ?? 0
    nodes[node].seenIn = 0
    nodes[node].isKnownExtra =
      digests.contains(label.hashValue) || selection.extra != .refused && digests.count >= Self.digestsMax
    labels[node] = label
    return node
  }

  private var overflowNode: Int?
  /// The digests of the labels that this node has stood for and that were reported.
  private var digests: Set<Int> = []
}
