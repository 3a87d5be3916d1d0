import Foundation
@testable import OpenCoreData
import TestSupport
import Testing

/// Plays rounds in which two contexts read one state, change it and save, the second one under a merge policy.
final class PolicyPlayer {
  private static let xml = """
    <model>
      <entity name="Node">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <attribute name="first" optional="YES" attributeType="Integer 64"/>
        <attribute name="second" optional="YES" attributeType="Integer 64"/>
        <relationship name="children" optional="YES" toMany="YES" destinationEntity="Node" inverseName="parent" inverseEntity="Node"/>
        <relationship name="parent" optional="YES" maxCount="1" destinationEntity="Node" inverseName="children" inverseEntity="Node"/>
        <relationship name="partner" optional="YES" maxCount="1" destinationEntity="Node" inverseName="partner" inverseEntity="Node"/>
        <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="nodes" inverseEntity="Tag"/>
      </entity>
      <entity name="Tag">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="nodes" optional="YES" toMany="YES" destinationEntity="Node" inverseName="tags" inverseEntity="Node"/>
      </entity>
    </model>
    """

  private let graph: LinkedGraph
  private let policy: Policy
  /// What the reference takes the policy for; another one is a planted error.
  private let assumed: Policy
  private let (own, other): (NSManagedObjectContext, NSManagedObjectContext)
  private var state = PolicyReference()
  private var random: SeededGenerator
  private var log: [String] = []
  private(set) var conflictCount = 0

  init(_ policy: Policy, seed: UInt64, assuming assumed: Policy? = nil) throws {
    graph = try LinkedGraph(xml: Self.xml, kind: .current)
    (self.policy, self.assumed) = (policy, assumed ?? policy)
    random = SeededGenerator(seed: seed)
    (own, other) = (graph.context(), graph.context())
    own.mergePolicy = policy.value
    let other = other
    try other.performAndWait {
      for number in PolicyReference.nodes { LinkedGraph.make("Node", number, in: other) }
      for number in PolicyReference.tags { LinkedGraph.make("Tag", number, in: other) }
      try other.save()
    }
  }

  /// - Returns: The first disagreement or error; nil if there is none.
  func play(rounds: Int) -> String? {
    do {
      for _ in 0..<rounds { if let found = try round() { return found } }
      return nil
    } catch { return "\(error)\(history)" }
  }

  private func round() throws -> String? {
    log.append("round")
    // Nothing is read anew while others save.
    var held: [NSManagedObject] = []
    defer { withExtendedLifetime(held) {} }
    for context in [own, other] {
      // Some are faults, and some have been made anew.
      let isReset = Bool.random(using: &random)
      held += try context.performAndWait {
        if isReset { context.reset() } else { context.refreshAllObjects() }
        return try ["Node", "Tag"].flatMap { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: $0)) }
      }
      if let found = try difference(state, context) { return "before: \(found)" }
    }
    let theirs = try changed(other)
    try other.performAndWait { try other.save() }
    let mine = try changed(own)
    let merged = state.merged(own: mine, theirs: theirs, assumed)
    if !state.touched(by: mine).isDisjoint(with: state.touched(by: theirs)) { conflictCount += 1 }
    do {
      try own.performAndWait { try own.save() }
      if merged == nil { return "the save was not refused\(history)" }
    } catch let error as NSError {
      if merged != nil || error.code != NSManagedObjectMergeError { return "\(error)\(history)" }
      own.performAndWait { own.rollback() }
    }
    // A save without changes reads nothing anew.
    let hasSaved = merged != nil && mine != state
    state = merged ?? theirs
    if hasSaved, let found = try difference(state, own, linksOnly: true) { return "after the save: \(found)" }
    return try difference(state, graph.context()).map { "in the store: \($0)" }
  }

  // MARK: Changes

  /// The state after a context has made some changes.
  private func changed(_ context: NSManagedObjectContext) throws -> PolicyReference {
    var state = state
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let node = PolicyReference.nodes.randomElement(using: &random) ?? 1
      let end = Bool.random(using: &random) ? PolicyReference.nodes.randomElement(using: &random) : nil
      let tag = PolicyReference.tags.randomElement(using: &random) ?? 11
      let number = Int.random(in: 1...999, using: &random)
      let kind = Int.random(in: 0..<5, using: &random)
      let name = context === own ? "own" : "other"
      let key = ["first", "second", "parent", "partner", "tags"][kind]
      log.append("\(name): \(node).\(key) \(kind < 2 ? number : kind < 4 ? end ?? 0 : tag)")
      if kind == 3, end == node { continue }
      try context.performAndWait {
        let object = try LinkedGraph.find("Node", node, in: context)
        let other = try end.map { try LinkedGraph.find("Node", $0, in: context) }
        switch kind {
        case 0, 1:
          state.values[PolicyReference.attributes[kind]]?[node] = number
          object.setValue(number, forKey: PolicyReference.attributes[kind])
        case 2:
          state.parent[node] = end
          object.setValue(other, forKey: "parent")
        case 3:
          state.setPartner(node, end)
          object.setValue(other, forKey: "partner")
        default:
          let set = object.mutableSetValue(forKey: "tags")
          let member = try LinkedGraph.find("Tag", tag, in: context)
          if state.tags[node, default: []].remove(tag) == nil {
            state.tags[node]?.insert(tag)
            set.add(member)
          } else {
            set.remove(member)
          }
        }
      }
    }
    return state
  }

  // MARK: Comparing

  private func difference(
    _ expected: PolicyReference, _ context: NSManagedObjectContext, linksOnly: Bool = false
  ) throws -> String? {
    try context.performAndWait {
      for node in PolicyReference.nodes {
        let object = try LinkedGraph.find("Node", node, in: context)
        var pairs: [(key: String, found: [Int], expected: [Int])] = [
          ("parent", LinkedGraph.numbers(object, "parent"), [expected.parent[node]].compactMap(\.self)),
          (
            "children", LinkedGraph.numbers(object, "children"),
            expected.parent.filter { $0.value == node }.keys.sorted()
          ),
          ("partner", LinkedGraph.numbers(object, "partner"), [expected.partner[node]].compactMap(\.self)),
          ("tags", LinkedGraph.numbers(object, "tags"), (expected.tags[node] ?? []).sorted()),
        ]
        if !linksOnly {
          for key in PolicyReference.attributes {
            let value = [object.value(forKey: key) as? Int].compactMap(\.self)
            pairs.append((key, value, [expected.values[key]?[node]].compactMap(\.self)))
          }
        }
        for pair in pairs where pair.found != pair.expected {
          return "\(node).\(pair.key) is \(pair.found), expected \(pair.expected)\(history)"
        }
      }
      for tag in PolicyReference.tags {
        let found = LinkedGraph.numbers(try LinkedGraph.find("Tag", tag, in: context), "nodes")
        let nodes = PolicyReference.nodes.filter { expected.tags[$0]?.contains(tag) == true }
        if found != nodes { return "\(tag).nodes is \(found), expected \(nodes)\(history)" }
      }
      return nil
    }
  }

  private var history: String {
    let last = log.lastIndex(of: "round") ?? 0
    return "\nunder \(policy), \(state), after " + log[last...].joined(separator: "; ")
  }
}
