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

  @Test func `JSON Lines are split too, and a wrong size is refused`() throws {
    try folder.write((0..<10).map { "{\"date\": \"2020-01-01\", \"rating\": \($0 % 5 + 1)}\n" }.joined(), to: "a.jsonl")
    #expect(try run("split", "a.jsonl", "--rows", "4", "--to", "out", "-q").status == 0)
    #expect(try folder.text("out/a-000003.jsonl").split(separator: "\n").count == 2)
    #expect(try run("split", "a.jsonl", "--rows", "0", "--to", "other").status == 64)
    #expect(try run("split", "missing.csv", "--rows", "4", "--to", "other").status == 66)
  }
}
