import Foundation
import TestSupport
import Testing

// Rule (docs/coredata-format.md, "Damage"): what damage to a store's files changes in an answer of `inspect` or `export` is
// reported by that command, or at least by `verify`. What SQLite's format can't show is checked by SQLite and Python.

@Suite("What damage to a store changes in an answer is reported", .seeded)
struct StoreDamageTests {
  /// The answers about undamaged files, found once for each form.
  private actor WholeAnswers {
    static let shared = WholeAnswers()
    private var known: [String: StoreAnswers] = [:]

    func of(_ name: String, _ files: HarbourStore.Files) async throws -> StoreAnswers {
      if let found = known[name] { return found }
      let found = try await StoreAnswers(files)
      known[name] = found
      return found
    }
  }

  /// Whether the files are those of another moment of the store, or of a store with the same UUID's pages replaced by all
  /// those of its twin: without its index a log can't show whose it is and how long it was.
  private static func isOtherMoment(_ answers: StoreAnswers, _ damage: StoreDamage) async throws -> Bool {
    guard damage.ending == "-wal", damage.form != .logged || damage.files["-shm"] != damage.whole["-shm"] else {
      return false
    }
    for (name, store) in [("own", try HarbourStore.one.get()), ("twin", try HarbourStore.other.get())] {
      for (number, state) in store.states.enumerated() {
        let moment = try await WholeAnswers.shared.of("\(name) \(number)", state.filter { $0.key != "-shm" })
        if answers.hasExports(of: moment) { return true }
      }
    }
    return false
  }

  /// What became of a damaged store; nil if it is wrong in silence.
  private static func outcome(
    _ answers: StoreAnswers, whole: StoreAnswers, of damage: StoreDamage
  ) async throws -> String? {
    let silent = answers.silent(against: whole)
    if silent.isEmpty { return answers == whole ? "without effect" : "reported by each command" }
    // A command reads what it shows; the verification compares values with indexes and rows with each other.
    if !silent.contains("verify"), answers.answers["verify"] != whole.answers["verify"] { return "reported by verify" }
    if try await isOtherMoment(answers, damage) { return "another moment" }
    return try PlausibleStore.isOne(damage.files, whole: damage.whole) ? "another whole store" : nil
  }

  @Test("for flipped bits, zeroed pages, cuts and foreign logs", arguments: Randomness.seeds(12, long: 640))
  func damage(seed: UInt64) async throws {
    let damage = try StoreDamage(seed: seed)
    let whole = try await WholeAnswers.shared.of(damage.form.rawValue, damage.whole)
    let answers = try await StoreAnswers(damage.files)
    let outcome = try await Self.outcome(answers, whole: whole, of: damage)
    if outcome == nil {
      let silent = answers.silent(against: whole)
      Issue.record("seed \(seed), \(damage): changed in silence: \(silent.joined(separator: ", "))")
    }
    Figures.add("\(damage.kind.rawValue): \(outcome ?? "wrong in silence")", 1, suite: Self.self)
  }

  @Test("The undamaged store is in order in each form")
  func undamaged() async throws {
    let store = try HarbourStore.one.get()
    let closed = try await StoreAnswers(store.closed)
    let logged = try await StoreAnswers(store.states[HarbourStore.transactions])
    #expect(closed.answers["verify"]?.reports == [] && logged.answers["verify"]?.reports == [], "\(closed)")
    #expect(closed.hasExports(of: logged))
    #expect(closed.answers["export Beach"]?.content?.split(separator: "\n").count == 119)
    #expect(closed.silent(against: logged) == [])
    let earlier = try await StoreAnswers(store.states[0])
    #expect(earlier.silent(against: logged).contains("export Photo"))
  }

  @Test("Canary: a value that another program changed is found as changed in silence, and reported as whole")
  func canary() async throws {
    let store = try HarbourStore.one.get()
    var files = store.closed
    var data = try #require(files[""])
    let place = try #require(data.range(of: Data("Surfer 42 of".utf8)))
    data[place.lowerBound] ^= 1
    files[""] = data
    let silent = try await StoreAnswers(files).silent(against: StoreAnswers(store.closed))
    #expect(silent == ["export Surfer", "verify"])
    #expect(try PlausibleStore.isOne(files, whole: store.closed))
    // A row that is gone is not plausible.
    files = store.states[1]
    #expect(try !PlausibleStore.isOne(files, whole: store.closed))
  }
}
