import DefinitionTestSupport
import Foundation
import Testing

@testable import PipelineDefinition

/// Declared date formats: Unicode TR35's letters, strictly read.
@Suite struct DatePatternTests {
  static let readable: [(format: String, text: String, iso: String)] = [
    ("journal-app", "7/14/14", "2014-07-14T00:00:00Z"),
    ("journal-app", "07/04/14", "2014-07-04T00:00:00Z"),
    ("journal-app", "12/31/49", "2049-12-31T00:00:00Z"),
    ("journal-app", "1/1/50", "1950-01-01T00:00:00Z"),
    ("journal-app", "1/1/00", "2000-01-01T00:00:00Z"),
    ("journal-app", "2/29/00", "2000-02-29T00:00:00Z"),
    ("journal-app", "12/31/99", "1999-12-31T00:00:00Z"),
    ("d.M.yyyy", "4.7.2014", "2014-07-04T00:00:00Z"),
    ("d.M.yyyy", "14.07.0001", "0001-07-14T00:00:00Z"),
    ("dd.MM.yyyy", "04.07.2014", "2014-07-04T00:00:00Z"),
    ("y-M-d", "2014-7-4", "2014-07-04T00:00:00Z"),
    ("y-M-d", "12014-7-4", "+12014-07-04T00:00:00Z"),
    ("yyyyMMdd", "20140714", "2014-07-14T00:00:00Z"),
    ("yyyyMMddHHmmss", "20140714073005", "2014-07-14T07:30:05Z"),
    ("yyyy-MM-dd HH:mm", "2014-07-14 07:30", "2014-07-14T07:30:00Z"),
    ("M/d/yy H:m", "7/4/14 7:5", "2014-07-04T07:05:00Z"),
    ("yyyy-MM-dd HH:mm:ss.SSS", "2014-07-14 07:30:05.125", "2014-07-14T07:30:05.125Z"),
    ("yyyy-MM-dd'T'HH:mm:ssX", "2014-07-14T09:30:00+02", "2014-07-14T07:30:00Z"),
    ("yyyy-MM-dd'T'HH:mm:ssXXX", "2014-07-14T09:30:00+02:00", "2014-07-14T07:30:00Z"),
    ("yyyy-MM-dd'T'HH:mm:ssXX", "2014-07-14T07:30:00Z", "2014-07-14T07:30:00Z"),
    ("yyyy-MM-dd HH:mm:ss Z", "2014-07-13 22:00:00 -0930", "2014-07-14T07:30:00Z"),
    ("d 'o''clock' M ''yy", "4 o'clock 7 '14", "2014-07-04T00:00:00Z"),
    ("d. M. yyyy 'été'", "4. 7. 2014 été", "2014-07-04T00:00:00Z"),
  ]

  @Test(arguments: readable)
  func `A pattern reads what it says`(format: String, text: String, iso: String) throws {
    let seconds = try #require(
      try DateFormat(format, named: DefinitionVocabulary.journal.dateFormats).seconds(text: text))
    #expect(DateText.iso8601(seconds) == iso)
  }

  static let unreadable: [(format: String, text: String)] = [
    ("journal-app", "14/7/14"), ("journal-app", "2/29/14"), ("journal-app", "7/14/2014"), ("journal-app", "7/14/4"),
    ("journal-app", "7/14"), ("journal-app", "7-14-14"), ("journal-app", "7/14/14 "), ("journal-app", "007/14/14"),
    ("journal-app", "0/14/14"), ("journal-app", "7/0/14"), ("journal-app", ""), ("journal-app", "2/29/1900"),
    ("dd.MM.yyyy", "4.07.2014"), ("dd.MM.yyyy", "04.7.2014"), ("dd.MM.yyyy", "04.07.14"), ("d.M.yyyy", "4.7.12014"),
    ("yyyy-MM-dd HH:mm", "2014-07-14 24:00"), ("yyyy-MM-dd HH:mm", "2014-07-14 07:60"),
    ("yyyy-MM-dd HH:mm", "2014-07-14"), ("yyyy-MM-dd HH:mm:ssX", "2014-07-14 07:30:00"),
    ("yyyy-MM-dd HH:mm:ss.SSS", "2014-07-14 07:30:05.12"), ("yyyy-MM-dd HH:mm:ss.SSS", "2014-07-14 07:30:05.1234"),
    ("y-M-d", "9999999999-1-1"),
  ]

  @Test(arguments: unreadable)
  func `A pattern refuses what is not its shape or no date`(format: String, text: String) throws {
    #expect(try DateFormat(format, named: DefinitionVocabulary.journal.dateFormats).seconds(text: text) == nil)
  }

  static let written: [(format: String, seconds: Double, text: String)] = [
    ("journal-app", 427_015_800, "7/14/14"),
    ("journal-app", -1, "12/31/00"),
    ("dd.MM.yyyy HH:mm:ss", 427_015_805.999, "14.07.2014 07:30:05"),
    ("yyyy-MM-dd HH:mm:ss.SSS", 427_015_805.9996, "2014-07-14 07:30:05.999"),
    ("yyyy-MM-dd HH:mm:ss.SSS", -0.25, "2000-12-31 23:59:59.750"),
    ("yyyy-MM-dd'T'HH:mmX", 427_015_800, "2014-07-14T07:30Z"),
    ("yyyy-MM-dd HH:mm Z", 427_015_800, "2014-07-14 07:30 +0000"),
    ("y/M/d H:m:s", 427_015_805, "2014/7/14 7:30:5"),
  ]

  @Test(arguments: written)
  func `A pattern writes in UTC and cuts what it does not name`(format: String, seconds: Double, text: String) throws {
    #expect(try DateFormat(format, named: DefinitionVocabulary.journal.dateFormats).string(seconds) == text)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 252_423_993_600, -63_145_526_400.5, 1e300])
  func `What a pattern cannot express is refused and leaves nothing behind`(seconds: Double) throws {
    var output: [UInt8] = [65]
    #expect(try !DateFormat("d.M.yyyy").append(seconds, to: &output))
    #expect(output == [65])
  }

  static let refused: [(format: String, message: String)] = [
    ("", #"the date format "" names no year; a date needs year (y), month (M) and day (d)"#),
    ("yyyy-MM", "names no day"), ("dd.MM", "names no year"), ("yyyy-MM-dd MM", "names the month twice; remove one"),
    ("yyy-MM-dd", "has 'yyy', which is not supported; use y yy yyyy"),
    ("yyyy-MMM-dd", "has 'MMM', which is not supported"), ("YYYY-MM-dd", "has 'YYYY', which is not supported"),
    ("yyyy-MM-dd hh:mm a", "has 'hh', which is not supported"), ("iso", "has 'i', which is not supported"),
    ("yyyy-MM-dd'T", "has an unmatched ': close it, or write '' for one"),
    ("yMMdd", "has two numbers side by side of which the first has no fixed length"),
    ("yyyyMd", "double its letter or put a mark between them"),
    ("yyyy-MM-dd ss", "has a second but no minute; add it"), ("yyyy-MM-dd mm", "has a minute but no hour; add it"),
    ("yyyy-MM-dd HH:mm.SSS", "has a fraction but no second; add it"), ("yyyy-MM-ddX", "has a zone but no hour; add it"),
  ]

  @Test(arguments: refused)
  func `A format that could mean two things, or none, is refused in words`(format: String, message: String) {
    let error = #expect(throws: PipelineError.self) {
      try DateFormat(format, named: DefinitionVocabulary.journal.dateFormats)
    }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }
}
