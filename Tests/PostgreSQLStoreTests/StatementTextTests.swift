import Testing

@testable import PostgreSQLStore

// Rule (PostgreSQLStore/Connection): statements about Core Data's tables are written once, in SQLite's form.

@Suite("Statements get PostgreSQL's form")
struct StatementTextTests {
  @Test("Names in upper case are quoted, and question marks are numbered")
  func names() {
    #expect(
      StatementText.translated("SELECT t0.Z_PK FROM ZSESSION t0 WHERE t0.ZPLACE = ? AND Z_2TAGS.REFLEXIVE <> ?")
        == "SELECT t0.\"Z_PK\" FROM \"ZSESSION\" t0 WHERE t0.\"ZPLACE\" = $1 AND \"Z_2TAGS\".\"REFLEXIVE\" <> $2")
    #expect(StatementText.translated("SELECT ZÜRICH FROM sj_run") == "SELECT \"ZÜRICH\" FROM sj_run")
  }

  @Test("A question mark with a number keeps it, also where a value is used twice")
  func numbered() {
    #expect(
      StatementText.translated("UPDATE t SET a = ?2 WHERE b > ?1 OR c = ?1")
        == "UPDATE t SET a = $2 WHERE b > $1 OR c = $1")
  }

  @Test("Texts and quoted names stay as they are")
  func quoted() {
    let sql = "SELECT 'Z?''Z?', \"ZA\"\"?\" FROM t"
    #expect(StatementText.translated(sql) == sql)
  }

  @Test("A row that is there already is not an error")
  func ignoring() {
    #expect(
      StatementText.translated("INSERT OR IGNORE INTO Z_1A(Z_1B) VALUES(?)")
        == "INSERT INTO \"Z_1A\"(\"Z_1B\") VALUES($1) ON CONFLICT DO NOTHING")
  }
}
