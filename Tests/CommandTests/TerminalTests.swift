import Foundation
import TestSupport
import Testing

/// What a person sees while a run goes on, and on which thread the view context works.
@Suite(.serialized) struct TerminalTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test func `Progress is shown on a terminal, seldom, and erased at the end`() throws {
    try Logs.write(records: 100_000, to: "big.csv", in: folder)
    let begin = ContinuousClock.now
    let seen = try Terminal.run("import", "big.csv", "--store", "s", "--chunk-rows", "500", in: folder)
    let seconds = begin.duration(to: .now) / .seconds(1)
    let updates = seen.components(separatedBy: "\r\u{1B}[K")
    #expect(updates.count > 1)
    #expect(Double(updates.count) <= seconds * 10 + 3)
    #expect(seen.hasSuffix("\r\u{1B}[K"))
    #expect(seen.contains("%  "))
    // The first update says nothing about the pace.
    if updates.count > 4 {
      #expect(seen.contains("/s  ") && seen.contains(" left  "), "\(updates.last(where: { !$0.isEmpty }) ?? "")")
      #expect(seen.contains(/[0-9]{1,3},[0-9]{3} records/))
    }
    #expect(seen.contains("big.csv"))
    #expect(try folder.text("out").hasPrefix("surf-log: import clean\n"))
  }

  @Test(arguments: ["--no-progress", "--quiet"])
  func `Progress can be switched off`(_ option: String) throws {
    try Logs.write(records: 20_000, to: "big.csv", in: folder)
    let seen = try Terminal.run("import", "big.csv", "--store", "s", "--chunk-rows", "500", option, in: folder)
    #expect(seen.isEmpty)
  }

  @Test func `The view context works on the real main thread`() throws {
    // Each save of a chunk has a part on the view context's queue. The main thread does nothing else, so it wakes up
    // about as often as there are chunks; asleep, it would not.
    let wakes = try Programs.python(
      """
      import subprocess, sys, time
      def wakes(*arguments):
          process = subprocess.Popen(sys.argv[1:2] + list(arguments), stdin=subprocess.PIPE,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
          process.stdin.write(b"date,height,period,wind,location,rating\\n")
          process.stdin.write(b"2014-07-14T07:30:00Z,3.9,12,Glassy,Rincon,4\\n" * 60000)
          process.stdin.flush()
          count = 0
          for _ in range(100):
              time.sleep(0.1)
              with open(f"/proc/{process.pid}/task/{process.pid}/status") as status:
                  now = [int(line.split()[1]) for line in status if line.startswith("voluntary_ctxt")][0]
              if now == count and count > 0: break
              count = now
          process.stdin.close()
          process.wait()
          return count
      print(wakes("import", "-", "--store", "s", "--chunk-rows", "100"), wakes("validate", "-", "--chunk-rows", "100"))
      """, Tool.url.path, in: folder)
    let numbers = wakes.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    try #require(numbers.count == 2)
    #expect(numbers[0] >= 300, "\(wakes)")
    #expect(numbers[1] < 100, "\(wakes)")
  }
}
