import Foundation
import Glibc
import TestSupport
import Testing

/// A file system that is really full. Where mounting is not permitted this is skipped.
@Suite(.serialized) struct SmallDiskTests {
  /// Runs a script with a small file system at `disk`, which goes with the script's mount namespace.
  private static func shell(
    _ script: String, kilobytes: Int, options: String = "", in folder: TemporaryFolder
  ) throws -> ProgramOutput {
    try folder.makeFolder("disk")
    let mount = "mount -t tmpfs -o size=\(kilobytes)k\(options) small disk && { \(script)\n}"
    return try Programs.run(
      "/usr/bin/env", ["unshare", "-m", "/bin/bash", "-c", mount], in: folder,
      environment: ["surfjournal": Tool.url.path]
    )
  }

  static let canMount: Bool = {
    guard getuid() == 0, let folder = try? TemporaryFolder() else { return false }
    return (try? shell("true", kilobytes: 64, in: folder).status) == 0
  }()

  @Test(
    .enabled(if: canMount, "this user may not mount a file system"),
    arguments: TestLength.isLong ? Array(stride(from: 16, through: 640, by: 8)) : [32, 96, 200, 320])
  func `A full disk ends a run with 74, and with more room a repetition ends it`(_ kilobytes: Int) throws {
    let folder = try TemporaryFolder()
    try Logs.write(records: 1500, to: "log.csv", in: folder)
    try folder.write(RunKind.definitions["p.json"] ?? "", to: "p.json")
    let load = "\"$surfjournal\" import log.csv --store disk/s --pipeline p.json --rejects disk/ -q >&2"
    let output = try Self.shell(
      """
      \(load); echo "first $?"; cp -r disk first
      mount -o remount,size=8m disk
      \(load); echo "second $?"; ls -A disk; cp -r disk second
      sqlite3 disk/s 'PRAGMA integrity_check; SELECT count(*), count(DISTINCT ZLOCATION) FROM ZJOURNALENTRY'
      """, kilobytes: kilobytes, in: folder)
    let lines = output.text.split(separator: "\n").map(String.init)
    let isEnough = lines.first == "first 0"
    #expect(lines == [isEnough ? "first 0" : "first 74", "second 0", "s", "ok", "1500|1500"], "\(output)")
    #expect(isEnough || output.messages.contains("full"), "\(output.messages)")
    #expect(kilobytes != 32 || !isEnough)
    for state in ["first", "second"] { expectNone(try Conservation.problems(in: folder, at: state)) }
  }

  /// A file system may have room for bytes and none for another file.
  @Test(.enabled(if: canMount, "this user may not mount a file system"), arguments: 2...6)
  func `A disk without room for another file ends a run with 74, and with more a repetition ends it`(
    _ files: Int
  ) throws {
    let folder = try TemporaryFolder()
    try Logs.write(records: 300, to: "log.csv", in: folder)
    let load = "\"$surfjournal\" import log.csv --store disk/s -q >&2"
    let output = try Self.shell(
      """
      \(load); echo "first $?"; mount -o remount,nr_inodes=100 disk
      \(load); echo "second $?"; ls -A disk
      sqlite3 disk/s 'PRAGMA integrity_check; SELECT count(*) FROM ZJOURNALENTRY'
      """, kilobytes: 8192, options: ",nr_inodes=\(files)", in: folder)
    let lines = output.text.split(separator: "\n").map(String.init)
    let isEnough = lines.first == "first 0"
    #expect(lines == [isEnough ? "first 0" : "first 74", "second 0", "s", "ok", "300"], "\(output)")
    #expect(isEnough || output.messages.contains("No space left on device"), "\(output.messages)")
    #expect(files != 2 || !isEnough)
  }

  struct Room: Sendable {
    let kilobytes: Int
    /// The size of the blocks of the file system.
    var blockBytes = 4096
  }
  private static let rooms =
    TestLength.isLong
    ? stride(from: 0, through: 640, by: 16).flatMap { [Room(kilobytes: $0), Room(kilobytes: $0, blockBytes: 1024)] }
    : [Room(kilobytes: 24), Room(kilobytes: 200), Room(kilobytes: 24, blockBytes: 1024)]

  /// On a file system with blocks, room can also be missing for names, and for what was written into the cache. SQLite
  /// makes room for each page of its shared memory by one byte; where blocks are smaller than a page, the system can't
  /// fill the rest of the page, and ends the process.
  @Test(
    .enabled(if: LoopDisk.canMount, "this user may not mount a file system"),
    arguments: rooms)
  func `A full ext4 file system ends a run with 74, and with more room a repetition ends it`(_ room: Room) throws {
    let folder = try TemporaryFolder()
    try Logs.write(records: 1500, to: "log.csv", in: folder)
    try folder.write(RunKind.definitions["p.json"] ?? "", to: "p.json")
    try folder.makeFolder("disk")
    let load = "\"$surfjournal\" import log.csv --store disk/s --pipeline p.json --rejects disk/ -q >&2"
    let script = """
      mount -o loop "$EMPTY" disk && rmdir disk/lost+found
      cat /dev/zero > disk/filler 2>/dev/null
      truncate -s -\(room.kilobytes)k disk/filler && sync -f disk
      \(load); echo "first $?"; rm disk/filler && sync -f disk
      cp -r disk first
      \(load); echo "second $?"; ls -A disk; cp -r disk second
      sqlite3 disk/s 'PRAGMA integrity_check; SELECT count(*), count(DISTINCT ZLOCATION) FROM ZJOURNALENTRY'
      """
    let disk = try LoopDisk(blockBytes: room.blockBytes)
    let output = try Programs.run(
      "/usr/bin/env", ["unshare", "-m", "/bin/bash", "-c", script], in: folder,
      environment: ["surfjournal": Tool.url.path, "EMPTY": disk.empty.path])
    let lines = output.text.split(separator: "\n").map(String.init)
    let first = lines.first.flatMap { Int32($0.dropFirst("first ".count)) } ?? -1
    #expect([0, 74].contains(first) || room.blockBytes < 4096 && first == 128 + SIGBUS, "\(output)")
    #expect(lines.dropFirst() == ["second 0", "s", "ok", "1500|1500"], "\(output)")
    let isNamed = ["full", "No space"].contains { output.messages.contains($0) }
    #expect(first != 74 || isNamed, "\(output.messages)")
    #expect(room.kilobytes != 24 || first != 0)
    for state in ["first", "second"] { expectNone(try Conservation.problems(in: folder, at: state)) }
  }

  @Test(.enabled(if: canMount, "this user may not mount a file system"))
  func `An export to a full disk leaves no file, and the older output as it was`() throws {
    let folder = try TemporaryFolder()
    try Logs.write(records: 5000, to: "log.csv", in: folder)
    #expect(try Tool.run("import", "log.csv", "--store", "s", "-q", in: folder).status == 0)
    let output = try Self.shell(
      """
      echo former > disk/out.csv
      "$surfjournal" export --store s -o disk/out.csv -q; echo "first $?"; ls -A disk; cat disk/out.csv
      """, kilobytes: 64, in: folder)
    #expect(output.text == "first 74\nout.csv\nformer\n", "\(output)")
    #expect(output.messages.contains("No space left on device"), "\(output.messages)")
  }

  @Test(.enabled(if: canMount, "this user may not mount a file system"))
  func `A read-only file system is named, and nothing is tried on it`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
    let output = try Self.shell(
      """
      "$surfjournal" import log.csv --store disk/s -q; echo "$?"
      mount -o remount,ro disk
      sed s/Rincon/Zuma/ log.csv > more.csv
      "$surfjournal" import more.csv --store disk/s -q; echo "$?"
      "$surfjournal" export --store disk/s -o - --columns location -q
      "$surfjournal" export --store disk/s -o disk/out.csv -q; echo "$?"; ls -A disk
      """, kilobytes: 1024, in: folder)
    let lines = output.text.split(separator: "\n").map(String.init)
    #expect(lines.first == "0" && lines.suffix(1) == ["s"], "\(output)")
    #expect(lines.contains("location") && lines.contains("Rincon"), "\(output)")
    let statuses = lines.compactMap { Int($0) }
    #expect(statuses.dropFirst().allSatisfy { [73, 74, 77].contains($0) }, "\(output)")
  }
}
