import DefinitionTestSupport
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// A wrong pipeline file is refused with everything that is wrong with it: what, where, and what to do.
@Suite struct DefinitionMistakeTests {
  private func mistakes(_ json: String) -> PipelineError? {
    do {
      _ = try PipelineDefinition(data: Data(json.utf8), file: URL(fileURLWithPath: "club.json"), environment: .journal)
      return nil
    } catch {
      return error
    }
  }

  private func lines(_ json: String) -> [String] {
    // The file's own name leads every line; what follows is the subject here.
    mistakes(json)?.description.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1)[1] }
      .map(String.init) ?? []
  }

  @Test func `All mistakes are reported at once, in the order of the file, with path, line and column`() throws {
    let json = """
      {
        // Ü: columns count characters.
        "nmae": "club",
        "source": [1, ""], "chunkRows": 0,
        "columns": [
          { "name": "date", "formts": ["iso8601"], "formats": ["yyyy-QQ-dd"], "required": "yes" },
          { "name": "rating", "rules": [{ "rule": "rnge", "min": 1 }, { "rule": "range" }] },
          { "name": "Date ", "attribute": "rating" }
        ],
        "key": ["dates"],
        "errorPolicy": "skp",
        "limits": { "fieldBytesMax": 1.5 },
        "report": ["out.yml"]
      }
      """
    #expect(
      lines(json) == [
        "1:1: 'name' is missing; every pipeline has a name for its reports",
        "3:3: nmae: unknown key 'nmae'; did you mean 'name'?",
        "4:14: source[0]: expected a text in quotes, found a number",
        "4:17: source[1]: expected a text in quotes, found an empty one",
        "4:22: chunkRows: expected a whole number from 1 to 1000000, found 0",
        "6:23: columns[0].formts: unknown key 'formts'; did you mean 'formats'?",
        """
        6:58: columns[0].formats[0]: the date format "yyyy-QQ-dd" has 'QQ', which is not supported; use y yy yyyy, \
        M MM, d dd, H HH, m mm, s ss, S…, X XX XXX, Z, ZZZZZ, put other letters in '…', or name a format: iso8601, \
        journal-app, seconds, unix
        """,
        "6:73: columns[0].required: expected true or false, found a text",
        """
        7:35: columns[1].rules[0]: unknown rule 'rnge'; known are 'required', 'notBefore', 'notAfter', \
        'notInFuture', 'range', 'length', 'oneOf', 'pattern', 'notOneOf', 'unique', 'format', 'quantity'; did you mean 'range'?
        """,
        "7:65: columns[1].rules[1]: has neither 'min' nor 'max'; give one of them, or both",
        "8:5: columns[2]: the label 'Date ' is also column 'date'; a label means one column",
        "8:5: columns[2]: the attribute 'rating' is already filled by column 'rating'; remove one",
        "10:11: key[0]: no column fills the attribute 'dates'; did you mean 'date'?",
        "11:3: errorPolicy: 'skp' is none of 'skip', 'stop'; did you mean 'skip'?",
        "12:15: limits.fieldBytesMax: expected a whole number from 1 to 268435456, found a number",
        """
        13:14: report[0]: 'out.yml' has no known ending; end it in .txt, .json, .xml, .html or .prom, which determines \
        the report's format
        """,
      ])
    let error = try #require(mistakes(json))
    #expect(error.code == .pipelineError)
    #expect(error.exitCode == .configuration)
    #expect(error.file == "club.json")
    #expect(error.description.hasPrefix("club.json:1:1: 'name' is missing"))
  }

  static let single: [(json: String, line: String)] = [
    (
      #"{"name": "n", "columns": ["date"], "source": ["a.csv", "\#(String(repeating: "{a,b}", count: 40)).csv"]}"#,
      "1:56: source[1]: the pattern '\(String(repeating: "{a,b}", count: 12))…' stands for more than 10000 paths; "
    ),
    (
      #"{"name": "n", "columns": ["date"], "source": "\#(String(repeating: "{a}", count: 101))"}"#,
      "1:36: source: the pattern '\(String(repeating: "{a}", count: 20))…' has 101 groups {…}, and at most 100 are "
    ),
    ("[]", "1:1: expected an object {…} with the keys 'name', 'description', 'source', "),
    (#"{"name": "", "export": {}}"#, "1:2: name: is empty; give a text or leave 'name' out"),
    (
      #"{"name": "n"}"#,
      "1:1: columns: no columns are declared, so nothing could be imported; list them, or add an 'export'"
    ),
    (
      #"{"name": "n", "columns": ["date"], "charts": ["dat"]}"#,
      "1:47: charts[0]: no column fills the attribute 'dat'; did you mean 'date'?"
    ),
    (
      #"{"name": "n", "columns": ["date"], "charts": ["date", "date"]}"#,
      "1:55: charts[1]: 'date' has a chart already; remove one"
    ),
    (#"{"name": "n", "export": {}, "zzz": 1}"#, "1:29: zzz: unknown key 'zzz'; known are 'name', "),
    (#"{"name": "n", "export": []}"#, "1:15: export: expected an object {…} with the keys 'output', 'columns', "),
    (#"{"name": "n", "export": {"limit": -1}}"#, "1:26: export.limit: expected a whole number from 0 to "),
    (#"{"name": "n", "export": {"limit": "3"}}"#, "1:26: export.limit: expected a whole number from 0 to "),
    (
      #"{"name": "n", "export": {"dateFormat": "yyyy"}}"#,
      #"1:26: export.dateFormat: the date format "yyyy" names no month; a date needs year (y), month (M) and day (d)"#
    ),
    (
      #"{"name": "n", "export": {"dateFormat": ["iso8601", "yyyy"]}}"#,
      "1:52: export.dateFormat[1]: the date format \"yyyy\" names no month"
    ),
    (
      #"{"name": "n", "export": {"dialect": {"null": "a,b"}}}"#,
      "1:38: export.dialect.null: the text for no value holds a delimiter, a quote, a line end or a zero byte; use one"
    ),
    (
      #"{"name": "n", "export": {"dialect": {"nulBytes": "drop"}}}"#,
      "1:38: export.dialect.nulBytes: 'drop' is none of 'refuse', 'keep'"
    ),
    (
      #"{"name": "n", "export": {"split": {"rows": 0}}}"#,
      "1:36: export.split.rows: expected a whole number from 1 to "
    ),
    (
      #"{"name": "n", "export": {"split": {}}}"#,
      "1:26: export.split: has neither 'rows' nor 'month'; give one of them"
    ),
    (
      #"{"name": "n", "export": {"split": {"rows": 1, "month": "date"}}}"#,
      "1:26: export.split: has 'rows' and 'month'; files are split by one of them, so remove the other"
    ),
    (
      #"{"name": "n", "export": {"output": "-", "hash": true}}"#,
      "1:41: export.hash: needs an output file, and the output is standard output; name a file"
    ),
    (
      #"{"name": "n", "export": {"output": "log-{day}.csv"}}"#,
      "1:26: export.output: the placeholder {day} is unknown; known are 'part', 'month', 'date', 'time'"
    ),
    (
      #"{"name": "n", "export": {"sort": [{}]}}"#,
      "1:35: export.sort[0].attribute: is missing; name the attribute to sort by"
    ),
    (
      #"{"name": "n", "export": {"columns": [{"format": "iso8601"}]}}"#,
      "1:38: export.columns[0].name: is missing; give the column's label"
    ),
    (
      #"{"name": "n", "export": {}, "chunkRows": 1000001}"#,
      "1:29: chunkRows: expected a whole number from 1 to 1000000, found 1000001"
    ),
    (
      #"{"name": "n", "export": {}, "dialect": "rfc-4180"}"#,
      "1:29: dialect: unknown dialect 'rfc-4180'; known are 'rfc4180', 'journal-app'; did you mean 'rfc4180'?"
    ),
    (
      #"{"name": "n", "export": {}, "dialect": {"delimiter": "a\nb"}}"#,
      #"1:41: dialect.delimiter: expected one or several characters such as "," ";" "\t" or "||", found "a\nb""#
    ),
    (
      #"{"name": "n", "export": {}, "dialect": {"delimiter": "\""}}"#,
      "1:41: dialect.delimiter: delimiter and quote are the same character; change one of them"
    ),
    (
      #"{"name": "n", "export": {}, "dialect": {"header": false}}"#,
      #"1:41: dialect.header: without a header the columns must be named: add "columns": ["date", …]"#
    ),
    (
      #"{"name": "n", "export": {}, "dialect": {"header": true, "columns": ["a"]}}"#,
      #"1:57: dialect.columns: columns are for files without a header; remove them or set "header": false"#
    ),
    (
      #"{"name": "n", "columns": ["date"], "dialect": {"columns": ["day"]}}"#,
      "1:60: dialect.columns[0]: 'day' is not one of the columns; declare it there, or write \"\" to ignore the field"
    ),
    (
      #"{"name": "n", "columns": [{"attribute": "date"}]}"#,
      "1:27: columns[0].name: is missing; give the column's label in the header"
    ),
    (
      #"{"name": "n", "columns": [{"name": "d", "rules": [{"min": 1}]}]}"#,
      "1:51: columns[0].rules[0]: 'rule' is missing; known rules are 'required', "
    ),
    (
      #"{"name": "n", "columns": [{"name": "d", "rules": [7]}]}"#,
      "1:51: columns[0].rules[0]: expected a rule's name or an object {\"rule\": …}, found a number"
    ),
    (
      #"{"name": "n", "columns": [{"name": "d", "rules": [{"rule": "range", "min": 5, "max": 1}]}]}"#,
      "1:69: columns[0].rules[0].min: is greater than 'max', so no value could pass"
    ),
    (
      #"{"name": "n", "columns": [{"name": "d", "rules": ["notBefore"]}]}"#,
      "1:51: columns[0].rules[0].date: is missing; the rule needs it"
    ),
    (
      #"{"name": "n", "columns": [{"name": "d", "rules": [{"rule": "notAfter", "date": "1900-02-29"}]}]}"#,
      "1:72: columns[0].rules[0].date: '1900-02-29' is not an ISO 8601 date; write it like 1900-01-01"
    ),
    (
      #"{"name": "n", "columns": [{"name": "d", "rules": [{"rule": "pattern", "matches": "(a"}]}]}"#,
      "1:71: columns[0].rules[0].matches: '(a' is not a valid ICU regular expression; check its brackets"
    ),
    (
      #"{"name": "n", "columns": [{"name": "d", "rules": [{"rule": "quantity", "unitRequired": true}]}]}"#,
      "1:72: columns[0].rules[0].unitRequired: no 'units' are declared, so nothing could be written; list them"
    ),
    (
      #"{"name": "n", "columns": [{"name": "d", "rules": [{"rule": "required", "severity": "fatal"}]}]}"#,
      "1:72: columns[0].rules[0].severity: 'fatal' is none of 'error', 'warning'"
    ),
  ]

  @Test(arguments: single)
  func `A mistake is named with its location and its remedy`(json: String, line: String) throws {
    let error = try #require(mistakes(json))
    #expect(error.mistakes.count == 1)
    let told = error.description.replacing("club.json:", with: "").trimmingCharacters(in: .whitespaces)
    #expect(told.hasPrefix(line), "\(told)")
  }

  static let syntax: [(json: String, line: String)] = [
    ("", "1:1: the document ends too early; complete it"),
    ("{", "1:1: what begins here is not closed: a '}' is missing at the end"),
    ("{\n \"name\": [1,\n", "2:10: what begins here is not closed: a ']' is missing at the end"),
    (#"{"name" "n"}"#, "1:9: name: a ':' is missing after 'name'; add it"),
    (#"{"name": "n" "store": "s"}"#, "1:14: a ',' or '}' is missing here; add it"),
    (#"{"name": ["a" "b"]}"#, "1:15: a ',' or ']' is missing here; add it"),
    (#"{"name": "n", "name": "m"}"#, "1:15: name: 'name' occurs twice; remove one"),
    ("{\"name\": \"n\n\"}", "1:10: the text that begins here has no closing quote on its line; add it"),
    (#"{"name": nobody}"#, "1:10: nobody is neither a number nor true, false or null; put quotes around a text"),
    (#"{"name": }"#, "1:10: a value is missing here; add it"),
    (#"{"name": "n"} {}"#, "1:15: something follows after the end of the document"),
    ("{ /* never\nclosed", "1:3: the comment that begins here is not closed; add */"),
    (#"{: 1}"#, "1:2: a key is missing here: write \"name\": value"),
  ]

  @Test(arguments: syntax)
  func `A mistake of syntax is shown where it is`(json: String, line: String) throws {
    let error = try #require(mistakes(json))
    #expect(error.description.hasPrefix("club.json:" + line), "\(error.description)")
    #expect(error.code == .pipelineError)
  }

  @Test func `A hostile nesting is refused and not followed`() throws {
    let error = try #require(mistakes(String(repeating: "[", count: 100_000)))
    #expect(error.message == "nested more than 64 levels deep; remove levels")
  }

  @Test func `A file that is not there is a missing input, not a wrong definition`() throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: PipelineError.self) {
      try PipelineDefinition(contentsOf: URL(fileURLWithPath: folder.path("none.json")), environment: .journal)
    }
    #expect(error?.code == .sourceError)
    #expect(error?.exitCode == .noInput)
    #expect(error?.message.contains("check the path and its permissions") == true)
  }

  @Test func `A definition made in code is checked like a file's`() throws {
    let definition = PipelineDefinition(
      name: "", columns: [ColumnDefinition("date")], key: ["place"], chunkRows: 0, report: ["x.pdf"],
      vocabulary: .journal)
    let error = #expect(throws: PipelineError.self) { try definition.check() }
    #expect(error?.mistakes.map(\.path) == ["name", "chunkRows", "key[0]", "report[0]"])
    #expect(throws: Never.self) { try PipelineDefinition.plain().check() }
  }
}

/// Hints for mistyped names.
@Suite struct NearestNameTests {
  static let cases: [(typed: String, found: String?)] = [
    ("ratign", "rating"), ("Rating", "rating"), ("rat", nil), ("loction", "location"), ("x", nil), ("", nil),
    ("dtae", "date"), ("hieght", "height"),
  ]

  @Test(arguments: cases)
  func `The nearest name within a third of the length is offered`(typed: String, found: String?) {
    #expect(NearestName.of(typed, in: ["date", "height", "location", "rating"]) == found)
  }
}
