import SurfJournal
import Testing

@testable import TableGuessing

/// The confidence below which a guess is refused, as the command has it.
let confidenceMin = 0.75

func guessed(_ bytes: [UInt8], name: String = "test.csv", dateFormats: [String] = []) -> TableGuess {
  TableGuesser(vocabulary: .journal, dateFormats: dateFormats)
    .guess(FileSample(name: name, head: bytes, totalBytes: bytes.count))
}

func guessed(_ text: String) -> TableGuess { guessed(Array(text.utf8)) }

extension TableGuess {
  var isRefused: Bool { confidence < confidenceMin }

  /// The form, as the corpus describes it.
  var form: TableForm {
    var form = TableForm()
    form.delimiter = delimiter.value
    form.quote = quote.value.flatMap(\.first) ?? "\0"
    if case .escaped(let byte) = escape.value { form.escape = Character(Unicode.Scalar(byte)) }
    form.skipsInitialSpace = skipsInitialSpace.value
    form.skipRows = layout.skipRows.value
    form.headerRows = layout.headerRows.value
    form.comment = layout.comment.value
    form.footer =
      switch layout.footer.value {
      case .none: "none"
      case .stopAt(let text): "stop at \(text)"
      case .last(let count): "last \(count)"
      }
    return form
  }

  /// The attribute of each label.
  var attributesByLabel: [String: String] {
    Dictionary(
      columns.compactMap { column in column.attribute.value.map { (column.profile.label, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  func formats(_ attribute: String) -> [String]? {
    columns.first { $0.attribute.value == attribute }?.formats?.value
  }
}

/// Expects that a guess has the form, or is refused; `isRefusable` says whether a refusal is as good.
func expect(
  _ guess: TableGuess, _ form: TableForm, isRefusable: Bool = false, what: String,
  location: SourceLocation = #_sourceLocation
) {
  var expected = form
  // What is written does not show in the guess.
  expected.lineEnd = guess.form.lineEnd
  expected.quotesAll = false
  if guess.isRefused {
    let why = guess.undecided(below: confidenceMin).map { "\($0.name): \($0.evidence)" }
    #expect(isRefusable, "\(what) is refused: \(why)", sourceLocation: location)
    #expect(why.allSatisfy { !$0.isEmpty }, sourceLocation: location)
  } else {
    #expect(guess.form == expected, "\(what)", sourceLocation: location)
  }
}
