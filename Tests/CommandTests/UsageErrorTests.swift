import Foundation
import TestSupport
import Testing

/// A wrong command line ends with 64, does nothing, and is reported on standard error with what to do.
@Suite struct UsageErrorTests {
  struct Mistake: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let arguments: [String]
    let message: String

    init(_ description: String, _ arguments: String..., message: String) {
      testDescription = description
      self.arguments = arguments
      self.message = message
    }
  }

  static let mistakes = [
    Mistake("an unknown command", "imprt", message: "unknown command 'imprt'; did you mean 'import'?"),
    Mistake("a command like no other", "xyzzy", message: "there are import, validate, preview, diff, export"),
    Mistake(
      "a command of other programs", "stats", "a.csv", message: "unknown command 'stats'; did you mean 'preview'?"),
    Mistake(
      "an output without its option", "export", "s", "out.csv", message: "leave it out, or name the output with -o"),
    Mistake("help for an unknown command", "help", "exprot", message: "did you mean 'export'?"),
    Mistake("an option before the command", "--json", "import", message: "unknown option '--json'"),
    Mistake(
      "an unknown option", "import", "a.csv", "--stroe", "s",
      message: "unknown option '--stroe'; did you mean '--store'?\nSee 'surfjournal help import'."),
    Mistake("an unknown option with a value", "import", "--stroe=s", message: "did you mean '--store'?"),
    Mistake("an unknown letter", "export", "-x", message: "unknown option '-x'"),
    Mistake("an unknown letter among known ones", "export", "-qx", message: "unknown option '-x'"),
    Mistake(
      "an option without its value", "import", "a.csv", "--store",
      message: "--store needs a value: --store STORE"),
    Mistake("a letter without its value", "export", "-o", message: "--output needs a value: --output FILE"),
    Mistake("a value for an option that has none", "import", "--json=yes", message: "--json takes no value"),
    Mistake(
      "an ambiguous abbreviation", "import", "--st", "s",
      message: "'--st' may mean --store or --stop-at or --stop-on-error; write more of it"),
    Mistake("import without a file", "import", "--store", "s", message: "no file is given"),
    Mistake(
      "import without a store", "import", "a.csv", message: "no store is given; name one with --store STORE"),
    Mistake("validate without a file", "validate", message: "no file is given"),
    Mistake("export without a store", "export", message: "no store is given"),
    Mistake("export with two operands", "export", "s", "t", message: "unexpected argument 't'"),
    Mistake("another program's option", "import", "a", "--sep", ";", message: "did you mean '--delimiter'?"),
    Mistake("a dry run of a seed", "seed", "--dry-run", message: "use 'surfjournal validate FILE...'"),
    Mistake(
      "a subject alone", "store", message: "'store' needs a second word: store history, store info, store verify"),
    Mistake(
      "work on an empty plan", "work", "--plan", "", "--store", "s",
      message: "no plan is given; name one with --plan ID"),
    Mistake("run without a pipeline", "run", message: "no pipeline is given"),
    Mistake("run with two pipelines", "run", "surf-log", "b", message: "unexpected argument 'b'"),
    Mistake(
      "run without a source", "run", "surf-log", "--store", "s", message: "names no source; add --input FILE"),
    Mistake("a dry run of an export", "run", "round-trip", "--dry-run", message: "--dry-run is for imports"),
    Mistake(
      "an output of an import", "run", "surf-log", "--input", "a.csv", "--output", "b",
      message: "--output is for exports"),
    Mistake(
      "a chunk of no rows", "import", "a", "--store", "s", "--chunk-rows", "0",
      message: "--chunk-rows is '0'; expected a whole number, 1 to 1000000"),
    Mistake("a chunk in words", "import", "a", "--store", "s", "--chunk-rows", "many", message: "is 'many'"),
    Mistake("a negative limit", "export", "--store", "s", "--limit=-1", message: "0 or more"),
    Mistake(
      "a timeout in words", "export", "--store", "s", "--lock-timeout", "long", message: "expected seconds"),
    Mistake(
      "a report of another kind", "validate", "a", "--report", "r.yml",
      message: "must be .txt, .json, .xml, .html or .prom"),
    Mistake(
      "an unknown dialect", "export", "--store", "s", "--dialect", "jurnal-app",
      message: "did you mean 'journal-app'?"),
    Mistake(
      "a date format that is none", "export", "--store", "s", "--date-format", "qq", message: "--date-format"),
    Mistake(
      "a sort order that is none", "export", "--store", "s", "--sort", "date:down", message: "ATTRIBUTE:desc"),
    Mistake(
      "an empty column", "export", "--store", "s", "--columns", "date,,wind", message: "with commas between"),
    Mistake(
      "an unknown column", "export", "--store", "s", "--columns", "dat", message: "did you mean 'date'?"),
    Mistake(
      "an unknown sort key", "export", "--store", "s", "--sort", "rateing", message: "did you mean 'rating'?"),
    Mistake("a predicate that is none", "export", "--store", "s", "--where", "rating >", message: "--where"),
    Mistake(
      "a predicate of an unknown attribute", "export", "--store", "s", "--where", "spot == 'x'",
      message: "JournalEntry has no 'spot'; it has date, height"),
    Mistake(
      "a predicate that compares what can't be", "export", "--store", "s", "--where", "rating == 'x'",
      message: "Compare it with a number"),
    Mistake(
      "one rejects file for two inputs", "import", "a", "b", "--store", "s", "--rejects", "r",
      message: "--rejects: several inputs need several files"),
  ]

  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: mistakes)
  func `The mistake is named`(_ mistake: Mistake) throws {
    let output = try Programs.run(Tool.url.path, mistake.arguments, in: folder)
    #expect(output.status == 64)
    #expect(output.text.isEmpty)
    #expect(output.messages.hasPrefix("surfjournal: "))
    #expect(output.messages.contains(mistake.message), "\(output.messages)")
    #expect(output.messages.contains("See 'surfjournal help"))
    #expect(try folder.names == [])
  }

  /// Places where a file is expected, and a store is not.
  static let filePlaces = [
    "export --store s -o ADDRESS", "export --store s -o out.csv --report ADDRESS",
    "import a.csv --store s --log ADDRESS",
    "import a.csv --store s --rejects ADDRESS", "import ADDRESS --store s", "import a.csv ADDRESS --store s",
    "validate ADDRESS", "diff ADDRESS a.csv", "diff a.csv --store s --report ADDRESS", "guess a.csv -o ADDRESS",
    "run ADDRESS", "run p.json ADDRESS", "import a.csv --store s --pipeline ADDRESS", "preview ADDRESS",
    "seed --from ADDRESS -o s", "split a.csv --rows 3 --to ADDRESS", "seed --from a.csv -o ADDRESS",
    "split ADDRESS --rows 3", "check ADDRESS",
  ]

  @Test(arguments: filePlaces)
  func `The address of a server is refused in place of a file, and its password is not shown`(_ command: String) throws
  {
    for secret in ["postgresql://u:sesame@127.0.0.1:1/db", "postgres://127.0.0.1:1/db?user=u&password=sesame"] {
      let words = command.replacing("ADDRESS", with: secret).split(separator: " ").map(String.init)
      let output = try Programs.run(Tool.url.path, words, in: folder)
      #expect([64, 66, 78].contains(output.status), "\(output.status) \(output.messages)")
      #expect(!(output.messages + output.text).contains("sesame"), "\(output.messages)")
      #expect(try folder.names == [])
    }
  }

  /// Words that a person may try for a server, which would be names of files.
  static let storeWords = [
    "service=journal", "host=127.0.0.1 dbname=d password=sesame", "dbname = d pwd='sesame'",
    " postgresql://u:sesame@h/d",
    "jdbc:postgresql://h/d?user=u&password=sesame", "mysql://u:sesame@h/d",
    "postgresql+psycopg://u:sesame@h/d?pass=sesame",
  ]

  @Test(arguments: storeWords)
  func `A store that looks like the address of a server does not become a file`(_ store: String) throws {
    try folder.write(Logs.two, to: "log.csv")
    for words in [["import", "log.csv", "--store", store], ["list", store], ["copy", "s", store]] {
      let output = try Programs.run(Tool.url.path, words, in: folder)
      #expect(output.status == 64 && output.messages.contains("postgresql://"), "\(output.status) \(output.messages)")
      #expect(!(output.messages + output.text).contains("sesame"), "\(output.messages)")
    }
    #expect(try folder.names == ["log.csv"])
  }

  @Test(arguments: [
    "ADDRESS", "work --plan ADDRESS --store ADDRESS", "plan a.csv --store s --shard-bytes ADDRESS",
    "list s --columns ADDRESS", "list --limit ADDRESS", "ADDRESS --store s",
  ])
  func `No message shows the password of an argument, wherever it was given`(_ command: String) throws {
    for secret in ["postgresql://u:sesame@127.0.0.1:1/db", "postgres://127.0.0.1:1/db?user=u&pwd=sesame"] {
      let words = command.replacing("ADDRESS", with: secret).split(separator: " ").map(String.init)
      let output = try Programs.run(
        Tool.url.path, words + (words[0] == "work" ? ["--retry-seconds", "0"] : []), in: folder)
      #expect(output.status != 0 && !output.messages.isEmpty)
      #expect(!(output.messages + output.text).contains("sesame"), "\(output.messages)")
    }
  }

  @Test func `A file in place of a command is answered with the commands that take files`() throws {
    try folder.write(Logs.two, to: "log.csv")
    let output = try Tool.run("log.csv", in: folder)
    #expect(output.status == 64)
    #expect(output.messages.contains("to import this file, use 'surfjournal import FILE --store STORE'"))
  }

  @Test func `Options may stand anywhere, be abbreviated, and end at two dashes`() throws {
    try folder.write(Logs.two, to: "-log.csv")
    let output = try Tool.run("import", "--stor", "s.sqlite", "--qui", "--", "-log.csv", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    let export = try Tool.run("export", "--limit=1", "-qoout.csv", "--store=s.sqlite", in: folder)
    #expect(export.status == 0, "\(export.messages)")
    #expect(try folder.text("out.csv").split(separator: "\n").count == 2)
  }

  @Test func `The last value of an option given twice counts`() throws {
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "a", "--store", "b", in: folder).status == 0)
    #expect(!folder.exists("a"))
    #expect(folder.exists("b"))
  }

  @Test(arguments: [("d\\377", 64 as Int32), ("d\\357\\277\\275", 0)])
  func `A current folder whose name is not UTF-8 is refused, and no other one is made`(
    _ name: String, status: Int32
  ) throws {
    try folder.write(Logs.two, to: "log.csv")
    let output = try Tool.shell(
      "d=$(printf '\(name)'); mkdir \"$d\" && cd \"$d\" && \"$surfjournal\" import ../log.csv --store s -q", in: folder)
    #expect(output.status == status, "\(output.messages)")
    #expect(output.messages.contains("is not UTF-8; change to another folder") == (status == 64), "\(output.messages)")
    #expect(try Tool.shell("ls | wc -l", in: folder).text == "2\n")
    #expect(try Tool.shell("ls d*", in: folder).text == (status == 64 ? "" : "s\n"))
  }

  @Test(arguments: ["work --plan 7f3a --store s", "report --plan 7f3a --store s"])
  func `A plan is not looked for in a file`(_ command: String) throws {
    let output = try Programs.run(Tool.url.path, command.split(separator: " ").map(String.init), in: folder)
    #expect(output.status == 64)
    #expect(output.messages.contains("s is a file, and plans are kept in stores on a server"), "\(output.messages)")
  }
}
