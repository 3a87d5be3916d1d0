import Foundation
import TestSupport
import Testing

/// Compressed inputs whose content is hundreds to thousands of times their size. Neither the ratio nor the size has a
/// limit: inputs are streamed, so the memory of a run is that of its longest record, whatever compressed the file.
@Suite(.serialized) struct DecompressionTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// What fills the content, as a factor of Python's `bytes`, and how much of it makes the small and the large file.
  struct Filler: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: String
    let megabytes: (small: Int, large: Int)
    let issue: String
  }

  /// Records whose only field is too long. They are read fast, also in debug.
  static let records = Filler(
    testDescription: "fields over the limit", bytes: #"(b"x" * 65535 + b"\n") * 16"#, megabytes: (16, 48),
    issue: "field-too-long")
  static let quoted = Filler(
    testDescription: "one quoted field without an end", bytes: #"b'"' * 1048576"#, megabytes: (2, 12),
    issue: "record-too-long")
  static let plain = Filler(
    testDescription: "one field without an end", bytes: #"b"a" * 1048576"#, megabytes: (2, 8), issue: "record-too-long")
  static let lines = Filler(
    testDescription: "empty lines", bytes: #"b"\n" * 1048576"#, megabytes: (1, 8), issue: "blank-row")

  static let cases: [(String, Filler)] =
    TestLength.isLong
    ? ["gz", "zst", "bz2", "xz"].flatMap { ending in [records, quoted, plain, lines].map { (ending, $0) } }
    : [("gz", records), ("bz2", records), ("zst", quoted)]

  /// Writes a file whose content is a header, so many times `filler`, and one good record; imports it; prints the size
  /// of the file, the greatest memory of the run in kilobytes, and its status.
  private static let script = """
    import bz2, lzma, os, subprocess, sys, zlib
    tool, ending, filler, times, *words = sys.argv[1:]
    def content():
        yield b"date,location\\n"
        for _ in range(int(times)): yield eval(filler)
        yield b"\\n2020-01-01,Rincon\\n"
    name = "long.csv." + ending
    with open(name, "wb") as file:
        if ending == "zst":
            packer = subprocess.Popen(["zstd", "-qc"], stdin=subprocess.PIPE, stdout=file)
            for piece in content(): packer.stdin.write(piece)
            packer.stdin.close()
            assert packer.wait() == 0
        else:
            packer = {"gz": lambda: zlib.compressobj(9, zlib.DEFLATED, 31), "bz2": bz2.BZ2Compressor,
                      "xz": lzma.LZMACompressor}[ending]()
            for piece in content(): file.write(packer.compress(piece))
            file.write(packer.flush())
    with open("messages", "w") as messages:
        run = subprocess.Popen([tool, "import", name, *words], stdout=messages, stderr=messages)
        _, status, usage = os.wait4(run.pid, 0)
    print(os.path.getsize(name), usage.ru_maxrss, os.waitstatus_to_exitcode(status))
    """

  private struct Measured {
    let bytes: Int
    let peakKilobytes: Int
    let status: Int
  }

  private func run(_ ending: String, _ filler: String, times: Int, words: String...) throws -> Measured {
    let output = try Programs.output(
      of: ["python3", "-c", Self.script, Tool.url.path, ending, filler, "\(times)"] + words, in: folder)
    let numbers = output.split { " \n".contains($0) }.compactMap { Int($0) }
    try #require(numbers.count == 3, "\(output)")
    return Measured(bytes: numbers[0], peakKilobytes: numbers[1], status: numbers[2])
  }

  private func writePipeline(recordBytesMax: Int, fieldBytesMax: Int) throws {
    try folder.write(
      """
      {"name": "p", "columns": ["date", "location"],
       "limits": {"recordBytesMax": \(recordBytesMax), "fieldBytesMax": \(fieldBytesMax)}}
      """, to: "p.json")
  }

  @Test(.enabled(if: Shim.seesAllocations, "a sanitizer has an allocator of its own"), arguments: cases)
  func `The memory of a run does not grow with what a file inflates to`(_ ending: String, _ filler: Filler) throws {
    try writePipeline(recordBytesMax: 1 << 20, fieldBytesMax: 50_000)
    let runs = try [filler.megabytes.small, filler.megabytes.large].map { megabytes in
      let measured = try run(
        ending, filler.bytes, times: megabytes, words: "--pipeline", "p.json", "--store", "s\(megabytes)")
      let messages = try folder.text("messages")
      #expect(measured.status == 65 && messages.contains(filler.issue), "\(messages)")
      #expect(try Programs.sqlite("s\(megabytes)", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "1\n")
      #expect(measured.bytes < megabytes << 20 / 200, "\(measured)")
      return measured
    }
    #expect(runs[1].peakKilobytes < runs[0].peakKilobytes + 16_000, "\(runs)")
  }

  /// What the test above measures does grow with a record that a higher limit lets in.
  @Test func `A limit as high as the record shows in the memory`() throws {
    try writePipeline(recordBytesMax: 256 << 20, fieldBytesMax: 256 << 20)
    let runs = try [1, 24].map { megabytes in
      try run("gz", #"b'"' * 1048576"#, times: megabytes, words: "--pipeline", "p.json", "--store", "s\(megabytes)")
    }
    #expect(runs[1].peakKilobytes > runs[0].peakKilobytes + 16_000, "\(runs)")
  }

  /// Empty lines are the slowest content for its size: 200 MB in some kilobytes take minutes.
  @Test func `The time that a small file takes is bounded by the timeout`() throws {
    let begin = ContinuousClock.now
    let stopped = try run("zst", #"b"\n" * 1048576"#, times: 200, words: "--store", "s", "--timeout", "1")
    #expect(stopped.bytes < 100_000)
    let messages = try folder.text("messages")
    #expect(stopped.status == 75, "\(messages)")
    #expect(ContinuousClock.now - begin < .seconds(60))
    #expect(try Programs.sqlite("s", "PRAGMA integrity_check", in: folder) == "ok\n")
  }
}
