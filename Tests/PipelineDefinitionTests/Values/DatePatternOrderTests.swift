import Testing

@testable import PipelineDefinition

/// Which patterns read the same text with day and month in the other order.
@Suite struct DatePatternOrderTests {
  static let mirrors = [
    ("M/d/yy", "d/M/yy"), ("dd.MM.yyyy HH:mm", "MM.dd.yyyy HH:mm"), ("yyyy-MM-dd", "yyyy-dd-MM"),
    ("d. M. yyyy 'um' HH:mm", "M. d. yyyy 'um' HH:mm"), ("M/d/yyyy H:mm:ss.SSS XXX", "d/M/yyyy H:mm:ss.SSS XXX"),
    ("M/d/yy 'o''clock' H", "d/M/yy 'o''clock' H"),
  ]

  @Test(arguments: mirrors)
  func `A mirrored pattern is written in letters, and mirrored again is the same`(text: String, mirror: String) throws {
    let pattern = try DatePattern(text)
    #expect(try pattern.mirrored == DatePattern(mirror))
    #expect(try DatePattern(pattern.text) == pattern)
    #expect(try DatePattern(pattern.mirrored.text) == pattern.mirrored)
    #expect(pattern.mirrored.mirrored == pattern)
    #expect(pattern.order == pattern.mirrored.order.opposite)
    #expect(pattern.shape == pattern.mirrored.shape)
  }

  @Test func `The number of digits and the century do not make another shape, the marks do`() throws {
    let shapes = try ["M/d/yy", "d/M/yyyy", "dd/MM/yyyy", "MM/dd/yy"].map { try DatePattern($0).shape }
    #expect(Set(shapes).count == 1)
    #expect(try DatePattern("d.M.yy").shape != shapes[0])
    #expect(try DatePattern("d/M/yy HH:mm").shape != shapes[0])
  }
}
