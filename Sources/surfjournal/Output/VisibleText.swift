import PipelineEngine

/// Text from files, stores and the system made safe for a terminal, which would act upon its control characters.
enum VisibleText {
  /// `text` with its line breaks and tabs; other control and format characters are shown by number.
  static func lines(_ text: String) -> String { RawText.lines(text) }

  /// JSON with the same values: the characters that its encoder leaves are written as escapes.
  static func json(_ text: String) -> String { RawText.json(text) }
}
