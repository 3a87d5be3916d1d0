import Foundation
import TestSupport
import Testing

/// `split`: parts with the header whose text in order is the file's, with the content hashes of an import.
@Suite struct SplitCommandTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    var text = "date,location,rating\n"
    for index in 0..<950 {
      text += "2020-01-0\(index % 9 + 1),\(index % 4 == 0 ? "\"Place\n\(index)\"" : "Place \(index)"),3\n"
    }
    try folder.write(String(text.dropLast()), to: "big.csv")
    try Programs.output(of: ["gzip", "-k", "big.csv"], in: folder)
  }

  private func run(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments, in: folder)
  }

  private struct Part: Decodable {
    let path: String
    let records: Int
    let contentHash: String
  }

  @Test(arguments: ["big.csv", "big.csv.gz"])
  func `The parts in order have the text of the file, and each is imported with its hash`(file: String) throws {
    let output = try run("split", file, "--rows", "300", "--to", "parts", "--json")
    #expect(output.status == 0, "\(output.messages)")
    let parts = try JSONDecoder().decode([Part].self, from: output.bytes)
    #expect(
      parts.map(\.path) == (1...4).map { "parts/big-00000\($0).csv" } && parts.map(\.records) == [300, 300, 300, 50])
    let header = "date,location,rating\n"
    var whole = ""
    for part in parts {
      let text = try folder.text(part.path)
      #expect(text.hasPrefix(header))
      whole += whole.isEmpty ? text : String(text.dropFirst(header.count))
      let hash = try Programs.output(of: ["xxhsum", "-H2", part.path], in: folder)
      #expect(hash.hasPrefix(part.contentHash), "\(hash)")
    }
    #expect(try whole == folder.text("big.csv"))
    let imported = try Programs.run(
      Tool.url.path, ["import"] + parts.map(\.path) + ["--store", "s", "--json"], in: folder)
    #expect(try imported.json().counts.read == 950)
  }

  @Test func `Parts are compressed on request, and nothing is overwritten`() throws {
    let first = try run("split", "big.csv.gz", "--rows", "500", "--to", "parts", "--gzip")
    #expect(first.status == 0 && first.text.contains("parts/big-000002.csv.gz"), "\(first.messages)")
    let text = try Programs.output(
      of: ["sh", "-c", "gzip -dc parts/big-000001.csv.gz parts/big-000002.csv.gz"], in: folder)
    #expect(text.split(separator: "\n").count == 950 + 238 + 2)
    let again = try run("split", "big.csv.gz", "--rows", "400", "--to", "parts")
    #expect(again.status == 73 && again.messages.contains("big-000001.csv.gz exists already"), "\(again.messages)")
  }

  @Test func `What a killed split left is removed, also where the earlier parts are refused`() throws {
    try folder.makeFolder("parts")
    try folder.write("", to: "parts/big-000001.csv")
    for name in ["big-000002", "other"] { try folder.write("", to: "parts/.\(name).csv.0a1b.partial") }
    #expect(try run("split", "big.csv", "--rows", "400", "--to", "parts").status == 73)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("parts")).sorted()
        == [".other.csv.0a1b.partial", "big-000001.csv"])
  }

  @Test func `JSON Lines are split too, and a wrong size is refused`() throws {
    try folder.write((0..<10).map { "{\"date\": \"2020-01-01\", \"rating\": \($0 % 5 + 1)}\n" }.joined(), to: "a.jsonl")
    #expect(try run("split", "a.jsonl", "--rows", "4", "--to", "out", "-q").status == 0)
    #expect(try folder.text("out/a-000003.jsonl").split(separator: "\n").count == 2)
    #expect(try run("split", "a.jsonl", "--rows", "0", "--to", "other").status == 64)
    #expect(try run("split", "missing.csv", "--rows", "4", "--to", "other").status == 66)
  }

  @Test func `A header that does not match the pipeline is refused, and the advice leads to whole records`() throws {
    let records = ["2020-01-01;\"Praia\r\ndo Norte\";3\r\n", "2020-01-02;Hossegor;4\r\n"]
    try folder.write("date;location;rating\r\n" + records.joined(), to: "semi.csv")
    let refused = try run("split", "semi.csv", "--rows", "1", "--to", "semi")
    #expect(
      refused.status == 65 && refused.messages.contains("the header has no 'date'")
        && refused.messages.contains("--pipeline ./pipeline.json; 'surfjournal guess semi.csv -o pipeline.json'"),
      "\(refused.messages)")
    #expect(!folder.exists("semi"))
    #expect(try run("guess", "semi.csv", "-o", "pipeline.json").status == 0)
    let split = try run("split", "semi.csv", "--rows", "1", "--to", "semi", "--pipeline", "./pipeline.json")
    #expect(split.status == 0 && split.text.contains("  1 record  semi/semi-000002.csv"), "\(split.messages)")
    #expect(try folder.text("semi/semi-000001.csv") == "date;location;rating\r\n" + records[0])
    #expect(try folder.text("semi/semi-000002.csv") == "date;location;rating\r\n" + records[1])
  }

  @Test func `The entity that the file is for is named where a pipeline fills several`() throws {
    let pipeline = Repository.path("SampleData/surfing.json")
    try folder.write("name,country\nPraia,Portugal\nHossegor,France\n", to: "spots.csv")
    func split(_ entity: String...) throws -> ProgramOutput {
      let arguments = ["split", "spots.csv", "--rows", "1", "--to", "spots", "--pipeline", pipeline] + entity
      return try Programs.run(Tool.url.path, arguments, in: folder)
    }
    let unnamed = try split()
    #expect(unnamed.status == 64 && unnamed.messages.contains("--entity Spot"), "\(unnamed.messages)")
    #expect(try split("--entity", "Session").status == 65)
    #expect(try split("--entity", "Spot").status == 0)
    #expect(folder.exists("spots/spots-000002.csv"))
  }

  /// Zeros in a small compressed file would fill the memory otherwise.
  @Test func `A record over the limits is refused with its line, and an endless one with little memory`() throws {
    let long = String(repeating: "x", count: 1_100_000)
    try folder.write("date,location\n2020-01-01,Rincon\n2020-01-02,\(long)\n", to: "long.csv")
    // An import rejects the record for its field, and takes the others.
    #expect(try run("split", "long.csv", "--rows", "1", "--to", "long").status == 0)
    try folder.write(
      #"{"name": "short", "limits": {"recordBytesMax": 1000}, "columns": ["date", "location"]}"#, to: "short.json")
    let refused = try run("split", "long.csv", "--rows", "1", "--to", "short", "--pipeline", "./short.json")
    #expect(refused.status == 65 && refused.messages.contains("line 3"), "\(refused.messages)")
    #expect(refused.messages.contains("limits.recordBytesMax"), "\(refused.messages)")
    try Programs.output(
      of: ["sh", "-c", "(printf 'date,location\\n'; head -c 100000000 /dev/zero) | gzip -1 > zeros.csv.gz"], in: folder)
    let zeros = try run("split", "zeros.csv.gz", "--rows", "1", "--to", "zeros")
    #expect(zeros.status == 65 && zeros.messages.contains("line 2"), "\(zeros.messages)")
    let endless = try run("split", "/dev/zero", "--rows", "1", "--to", "endless")
    #expect(endless.status == 65, "\(endless.messages)")
    #expect(!folder.exists("endless"))
  }

  @Test func `The folder is made for an input that can be read, and a file in its place is named`() throws {
    let missing = try run("split", "missing.csv", "--rows", "4", "--to", "none")
    #expect(missing.status == 66 && !folder.exists("none"), "\(missing.messages)")
    let file = try run("split", "big.csv", "--rows", "400", "--to", "big.csv.gz")
    #expect(file.status == 73 && file.messages.contains("big.csv.gz is not a folder"), "\(file.messages)")
    let below = try run("split", "big.csv", "--rows", "400", "--to", "big.csv.gz/parts")
    #expect(
      below.status == 73 && below.messages.contains("the folder big.csv.gz/parts can't be made"), "\(below.messages)")
  }

  @Test func `Parts of standard input and of an archive have an ending that says their format`() throws {
    let input = try Tool.run("split", "-", "--rows", "900", "--to", "input", in: folder, input: folder.text("big.csv"))
    #expect(input.status == 0, "\(input.messages)")
    #expect(folder.exists("input/stdin-000002.csv"))
    try folder.write("{\"date\": \"2020-01-01\"}\n", to: "a.jsonl")
    try Programs.output(of: ["zip", "-q", "a.zip", "a.jsonl"], in: folder)
    try Programs.output(of: ["zip", "-q", "big.csv.zip", "big.csv"], in: folder)
    #expect(try run("split", "a.zip", "--rows", "9", "--to", "zip", "--gzip").status == 0)
    #expect(try run("split", "big.csv.zip", "--rows", "900", "--to", "zip").status == 0)
    #expect(folder.exists("zip/a-000001.jsonl.gz"))
    #expect(folder.exists("zip/big-000002.csv"))
  }
}
