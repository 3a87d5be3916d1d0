import Foundation
import Glibc
import TestSupport
import Testing

/// A deletion that takes objects with large values along is killed at any call on files, or refused by the system there:
/// all of it has happened or nothing, and what is left has its files.
@Suite(.seeded) struct DeletionFaultTests {
  private let work: TemporaryFolder
  private let base: TemporaryFolder
  private let own: TemporaryFolder
  private static let deletion = ["delete", "1", "--entity", "Spot", "-y", "-q"] + SurfModel.options

  /// Two spots with three sessions each, all with photos in files.
  init() throws {
    (work, base, own) = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder())
    try SurfModel.write(to: work)
    let photos = (1...6).map { "\($0),\(Data(repeating: UInt8($0), count: 131_073).base64EncodedString())" }
    try work.write("rating,photo\n" + photos.joined(separator: "\n") + "\n", to: "a.csv")
    try tool(["import", "a.csv", "--entity", "Session", "-q"])
    for name in ["Rincon", "Jaws"] { try tool(["add", "--entity", "Spot", "--set", "name=\(name)", "-y", "-q"]) }
    for (spot, sessions) in [("1", "1,2,3"), ("2", "4,5,6")] {
      try tool(["edit", spot, "--entity", "Spot", "--set", "sessions=\(sessions)", "-y", "-q"])
    }
    for name in try work.names { try FileManager.default.copyItem(at: work.file(name), to: base.file(name)) }
    try #require(try sessions() == [1, 2, 3, 4, 5, 6] && files == 6)
  }

  private func tool(_ arguments: [String]) throws {
    let output = try Programs.run(Tool.url.path, arguments + SurfModel.options, in: work)
    try #require(output.status == 0, "\(output.messages)")
  }

  /// The keys of the sessions, each with its file.
  private func sessions() throws -> [Int] {
    let query = """
      PRAGMA integrity_check;
      SELECT Z_PK || ' ' || CAST(substr(ZPHOTO, 2, 36) AS TEXT) FROM ZSESSION
      WHERE ZSPOT IN (SELECT Z_PK FROM ZSPOT) ORDER BY Z_PK
      """
    let lines = try Programs.sqlite("s.sqlite", query, in: work).split(separator: "\n")
    try #require(lines.first == "ok")
    return try lines.dropFirst().map { line in
      let parts = line.split(separator: " ")
      let key = try #require(Int(parts[0]))
      let photo = try work.data(".s_SUPPORT/_EXTERNAL_DATA/\(parts[1])")
      try #require(photo == Data(repeating: UInt8(key), count: 131_073))
      return key
    }
  }

  private var files: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: work.path(".s_SUPPORT/_EXTERNAL_DATA")).count) ?? 0
  }

  private func run(_ fault: Fault) throws -> ShimReport {
    for name in try work.names { try FileManager.default.removeItem(at: work.file(name)) }
    for name in try base.names { try FileManager.default.copyItem(at: base.file(name), to: work.file(name)) }
    let page = own.path("page")
    let environment = try Shim.environment(fault, in: work, page: page)
    _ = try Programs.run(Tool.url.path, Self.deletion, in: work, environment: environment)
    return try Shim.report(page)
  }

  @Test func `Killed at any call, or refused by the system there, it is whole or was not begun`() throws {
    var random = Randomness.generator()
    let undisturbed = try run(.none)
    try #require(sessions() == [4, 5, 6] && files == 3)
    let rounds = TestLength.rounds(12, long: 2 * undisturbed.counted)
    var happened = 0
    for round in 0..<rounds {
      let point = rounds > undisturbed.counted ? round / 2 + 1 : Int.random(in: 1...undisturbed.counted, using: &random)
      let action: Fault.Action = round % 2 == 0 ? .kill : .fail(EIO)
      let met = try run(Fault(action, at: point))
      if met.fired == 0 { continue }
      happened += 1
      let found = try sessions()
      let place = "\(action) at call \(point): \(met.call)"
      try #require([[1, 2, 3, 4, 5, 6], [4, 5, 6]].contains(found), "\(place): \(found)")
      let again = try Programs.run(Tool.url.path, Self.deletion, in: work)
      #expect(again.status == (found.count == 3 ? 66 : 0), "\(place): \(again.messages)")
      #expect(try sessions() == [4, 5, 6])
      #expect(files == 3 && !work.exists(".s_SUPPORT/_OPENCOREDATA_PENDING"), "\(place)")
    }
    #expect(happened * 2 > rounds)
    Figures.add("faults", happened, suite: Self.self)
    if FaultPoint.areAll { Figures.add("series of a fault at every call", 1, suite: Self.self) }
    print("deletion: \(happened) faults of \(undisturbed.counted) calls, seed \(Randomness.seed)")
  }
}
