import Foundation
import Glibc
import TestSupport
import Testing

/// Access control lists: no file that a run makes gives anyone more than the store does, and a replaced file keeps its
/// list.
@Suite(.enabled(if: AccessLists.areKept, "the file system keeps no access control lists"))
struct AccessListTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write("date,rating\n2020-01-01,4\n2020-01-02,nine\n", to: "a.csv")
    try folder.write("{\"name\": \"p\", \"columns\": [\"date\", \"rating\"]}", to: "p.json")
    try folder.makeFolder("out")
  }

  private func script(_ text: String) throws -> String { try AccessLists.python(text, in: folder) }

  /// Imports and exports into the folder `out`, with a store that exists.
  private func run() throws {
    let output = try Tool.shell(
      """
      umask 022
      "$surfjournal" import a.csv --pipeline p.json --store s --report out/r.json --log out/events --rejects out/ -q
      "$surfjournal" export --store s -o out/out.csv --hash --incremental -q
      """, in: folder)
    try #require(output.status == 0, "\(output.messages)")
  }

  /// The rights of files in `out` that are not those of root: mode, then list.
  private func rights() throws -> Set<String> {
    let lines = try script(
      "for n in os.listdir('out'): print(oct(os.stat('out/' + n).st_mode & 0o777)[2:], read('out/' + n))")
    let made = lines.split(separator: "\n").map(String.init)
    #expect(made.count >= 5, "\(lines)")
    return Set(made)
  }

  @Test func `The group's own rights count, not the bits that stand for the most of the list`() throws {
    try folder.write("", to: "s")
    _ = try script("write('s', 'u::rw-,u:65534:rw-,g::---,m::rw-,o::---')")
    try run()
    #expect(try rights() == ["600 "])
    // Without the list the bits are those of the group.
    _ = try script("os.removexattr('s', 'system.posix_acl_access'); os.chmod('s', 0o660)")
    try FileManager.default.removeItem(at: folder.file("out"))
    try folder.makeFolder("out")
    try folder.write("date,rating\n2021-01-01,4\n2021-01-02,nine\n", to: "a.csv")
    try run()
    #expect(try rights() == ["640 "])
  }

  @Test func `Where the folder gives its files a list, a private store makes it give nothing`() throws {
    _ = try script("write('out', 'u::rwx,u:65534:rwx,g::r-x,m::rwx,o::---', 'default')")
    try folder.write("", to: "s")
    try folder.setMode(0o600, of: "s")
    try run()
    let made = try rights()
    #expect(made.allSatisfy { $0.hasPrefix("600 ") && $0.contains("m::---") }, "\(made)")
  }

  @Test func `Where store and files get the list of one folder, a reader of the store reads them`() throws {
    _ = try script("write('.', 'u::rwx,u:65534:rwx,g::---,m::rwx,o::---', 'default')")
    _ = try script("write('out', 'u::rwx,u:65534:rwx,g::---,m::rwx,o::---', 'default')")
    try run()
    let made = try rights()
    #expect(try script("print(read('s'))").contains("u:65534:rwx,g::---,m::r--,o::---"))
    #expect(made.allSatisfy { $0.hasPrefix("640 ") && $0.contains("g::---,m::r--,o::---") }, "\(made)")
  }

  @Test func `A replaced file keeps its list, and one without a list gets none`() throws {
    _ = try script("write('out', 'u::rwx,u:65534:rwx,g::r-x,m::rwx,o::r--', 'default')")
    try folder.write("", to: "out/r.json")
    try folder.write("", to: "out/out.csv")
    _ = try script(
      """
      write('out/r.json', 'u::rw-,u:7:r--,g::---,m::r--,o::---')
      os.removexattr('out/out.csv', 'system.posix_acl_access'); os.chmod('out/out.csv', 0o640)
      """)
    try run()
    #expect(try script("print(read('out/r.json'))") == "u::rw-,u:7:r--,g::---,m::r--,o::---\n")
    #expect(try script("print(read('out/out.csv'), oct(os.stat('out/out.csv').st_mode & 0o777))") == " 0o640\n")
  }

  @Test(.enabled(if: geteuid() == 0, "files of other users can only be made by root"))
  func `A replaced file keeps its owner and group, and members of another group get what everybody has`() throws {
    try folder.write("", to: "out/r.json")
    try folder.setMode(0o664, of: "out/r.json")
    #expect(chown(folder.path("out/r.json"), 65534, 65534) == 0)
    // The store's group is another one than that of new files.
    try folder.write("", to: "s")
    try folder.setMode(0o640, of: "s")
    #expect(chown(folder.path("s"), 0, 65534) == 0)
    try run()
    let lines = try script(
      "for n in os.listdir('out'): f = os.stat('out/' + n); print(n, f.st_uid, f.st_gid, oct(f.st_mode & 0o777)[2:])")
    for line in lines.split(separator: "\n") {
      #expect(line.hasPrefix("r.json") ? line == "r.json 65534 65534 664" : line.hasSuffix(" 0 0 600"), "\(line)")
    }
    // A folder that gives its files its group.
    try FileManager.default.removeItem(at: folder.file("out"))
    try folder.makeFolder("out")
    #expect(chown(folder.path("out"), 0, 65534) == 0)
    try folder.setMode(0o2775, of: "out")
    try folder.write("date,rating\n2021-01-01,4\n2021-01-02,nine\n", to: "a.csv")
    try run()
    #expect(try rights() == ["640 "])
  }
}
