import CSV
import Foundation
import PipelineDefinition
import SurfJournal
import TableGuessing

/// Any bytes have a guess, and what is written of it is a pipeline that can be read.
enum GuessTarget: FuzzTarget {
  static let name = "guess"
  static let bytesMax = 2048
  static let words = [
    "Datum;", "Ort", ";\"", "\t", "14.07.2014", "3,5", "1.234,56", "\r\n", "NULL", "#", "Summe;", "\\N",
  ]
  static let seeds: [[UInt8]] = [
    "Datum;Ort;Höhe;Bewertung\n14.07.2014;Sylt;1,5 m;4\n15.07.2014;\"Kampen; Nord\";2,0 m;5\n",
    "title\n\ndate,height,period,wind,location,rating\n7/14/14,3-5ft,12 sec,NW 5,Rincon,4\n7/15/14,,,,Swamis,NULL\nTotal,2\n",
    "date\tlocation\n2014-07-14T06:30:00Z\tRincon\n#x\n2014-07-15\tSwamis\n", "{\"date\":\"2014-07-14\"}\n",
    "\u{FEFF}a|b\n1|2\n",
  ].map { Array($0.utf8) }

  /// It prepares all labels of the vocabulary.
  private static let guesser = TableGuesser(vocabulary: .journal)
  private static let environment = DefinitionEnvironment(variables: [:], vocabulary: .journal)

  static func run(_ input: inout FuzzInput) {
    let sample = FileSample(name: "log.csv", head: input.rest)
    let guess = guesser.guess(sample)
    _ = GuessReport(guess).text
    _ = GuessReport(guess).refusal(below: 0.9)
    let text = PipelineText(guess, name: "log", sources: ["log.csv"], store: "log.sqlite", program: "surfjournal").text
    do throws(PipelineError) {
      _ = try PipelineDefinition(data: Data(text.utf8), environment: environment)
    } catch {
      // What is undecided is not written without being asked for.
      if guess.undecided(below: 0.9).isEmpty { broken("a guess is a pipeline", "\(error)\n\(text)") }
    }
  }
}
