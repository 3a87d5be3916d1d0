import Foundation
import TestSupport
import Testing

@testable import StoreInspection

/// What a store of Core Data never contains, although SQLite allows it.
@Suite struct VerificationGapsTests {
  static let damages = [
    ("UPDATE ZSURFER SET ZNICKNAME = CAST(x'41ff42' AS TEXT) WHERE Z_PK = 1", "textBytes error"),
    ("UPDATE ZSURFER SET ZNICKNAME = CAST(x'410042' AS TEXT) WHERE Z_PK = 2", "textBytes error"),
    ("UPDATE ZPHOTO SET ZTAKEN = 9e999 WHERE Z_PK = 1", "valueType error"),
    ("UPDATE ZPHOTO SET ZTAKEN = -9e999 WHERE Z_PK = 1", "valueType error"),
    ("DROP INDEX Z_Beach_UNIQUE_name", "uniqueIndexMissing error"),
    ("UPDATE Z_METADATA SET Z_VERSION = 2", "formatVersion error"),
    ("DROP TABLE Z_MODELCACHE", "modelCacheMissing warning"),
    ("INSERT INTO Z_MODELCACHE VALUES (x''), (x'')", "modelCacheDoubled warning"),
    ("INSERT INTO Z_PRIMARYKEY VALUES (16009, '', 0, 0)", "keyRowNameless error"),
    ("INSERT INTO Z_PRIMARYKEY VALUES (16008, 'CHANGE', 0, 0), (16009, 'CHANGE', 0, 0)", "keyRowDoubled error"),
    ("INSERT INTO Z_PRIMARYKEY VALUES (16009, 'CHANGE', 16020, 0)", "keyRowSuper error"),
    ("UPDATE ZSURFER SET ZBOARDER = NULL", "inverse warning"),
  ]

  @Test(arguments: damages)
  func `Each is found, with its severity`(_ sql: String, finding: String) throws {
    let made = try MadeStore()
    try made.shell(sql)
    let seen = try made.verify()
    #expect(seen.findings.map { "\($0.code) \($0.severity.rawValue)" } == [finding], "\(seen.text())")
  }

  @Test func `What could not be checked is an error`() throws {
    let made = try MadeStore()
    try made.shell("UPDATE Z_PRIMARYKEY SET Z_NAME = NULL WHERE Z_NAME = 'Photo'; UPDATE Z_METADATA SET Z_VERSION = 1")
    let seen = try StoreVerification(storeAt: made.url)
    #expect(seen.errors > 0, "\(seen.text())")
  }

  @Test func `No advice invites to change a store of another program`() throws {
    let made = try MadeStore()
    try made.shell(
      """
      UPDATE ZSURFER SET Z_OPT = 0, Z_ENT = 9, ZNICKNAME = x'41', ZREEF = 77; UPDATE Z_METADATA SET Z_UUID = 'x';
      INSERT INTO Z_1SURFERS VALUES (2, 99); UPDATE Z_PRIMARYKEY SET Z_MAX = 0
      """)
    let seen = try made.verify()
    #expect(seen.findings.count > 5)
    for finding in seen.findings {
      #expect(!finding.advice.contains("Set ") && !finding.advice.contains("Delete "), "\(finding.code)")
    }
  }
}
