import DefinitionTestSupport
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition

/// The published schema of pipeline files says what the reader reads, in both directions.
@Suite struct PipelineSchemaTests {
  private let schema: PipelineSchema
  init() throws { schema = try PipelineSchema() }

  private func read(_ value: JSONValue) -> MistakeList {
    let mistakes = MistakeList()
    _ = PipelineDefinition.read(value, vocabulary: .journal, mistakes: mistakes)
    return mistakes
  }

  @Test func `Every object of the schema has the keys that the reader takes there, no more and no fewer`() {
    let shapes = schema.shapes
    #expect(shapes.count > 20)
    for shape in shapes {
      let taken = read(schema.document(with: .object(shape.skeleton), at: shape.path)).acceptedKeys[shape.path]
      var keys = Set(shape.properties.keys)
      if shape.path.isEmpty { keys.subtract(DefinitionLoader.ownKeys) }
      let place = "\(shape.path.isEmpty ? "the definition" : shape.path) \(shape.constants)"
      let missing = (taken ?? []).subtracting(keys).sorted()
      let unknown = keys.subtracting(taken ?? []).sorted()
      #expect(missing == [], "The reader takes these, add them to pipeline.schema.json: \(place)")
      #expect(unknown == [], "The schema has these, the reader does not take them: \(place)")
    }
    #expect(Set(DefinitionLoader.ownKeys).isSubset(of: schema.shapes.first?.properties.keys.map { $0 } ?? []))
  }

  @Test func `Where the reader takes an object, the schema has one`() {
    let known = Set(schema.shapes.map(\.path))
    for shape in schema.shapes {
      for key in shape.properties.keys {
        let path = shape.path.isEmpty ? key : "\(shape.path).\(key)"
        for candidate in [path, path + "[]"] where !known.contains(candidate) {
          let mistakes = read(schema.document(with: .object([:]), at: candidate))
          #expect(
            mistakes.acceptedKeys[candidate] == nil, "Describe the object at \(candidate) in pipeline.schema.json")
        }
      }
    }
  }

  @Test func `Rules and policies of the schema are those of the reader`() {
    func names(_ path: String, _ key: String) -> Set<String> {
      Set(schema.shapes.filter { $0.path == path }.compactMap { $0.constants[key]?.text })
    }
    // A message of the reader lists the names that it knows.
    func known(_ document: JSONValue) -> Set<String> {
      let message = read(document).mistakes.first { $0.message.contains("is missing; known") }?.message ?? ""
      let quoted = message.split(separator: "'").dropFirst(2).enumerated().filter { $0.offset.isMultiple(of: 2) }
      return Set(quoted.map { String($0.element) })
    }
    let rules = known(schema.document(with: .object([:]), at: "columns[].rules[]"))
    #expect(rules.contains("quantity"))
    #expect(names("columns[].rules[]", "rule") == rules)
    let transforms = known(schema.document(with: .object([:]), at: "columns[].transforms[]"))
    #expect(transforms.contains("convert"))
    #expect(names("columns[].transforms[]", "transform") == transforms)
    let recordRules = known(schema.document(with: .object([:]), at: "recordRules[]"))
    #expect(recordRules.contains("when"))
    #expect(names("recordRules[]", "rule") == recordRules)
    let policies = known(schema.document(with: .object([:]), at: "duplicates"))
    #expect(names("duplicates", "policy") == policies)
    #expect(policies == Set(DuplicatePolicy.names))
  }

  @Test func `Texts that the schema calls paths are those that a base anchors in its folder`() {
    #expect(schema.pathKeys == PipelineDefinition.pathKeys)
  }

  @Test func `Every key and every shape is described`() {
    for shape in schema.shapes {
      for (key, node) in shape.properties where node["const"] == nil {
        #expect(node["description"]?.text?.isEmpty == false, "\(shape.path).\(key)")
      }
    }
  }

  @Test func `Every key of the schema is in the documentation`() throws {
    let article = try String(
      contentsOf: PipelineSchema.folder.deletingLastPathComponent()
        .appendingPathComponent("docs/manual/reference/pipeline-files.md"), encoding: .utf8)
    let keys = Set(schema.shapes.flatMap(\.properties.keys))
    #expect(keys.count > 60)
    #expect(keys.filter { !article.contains("`\($0)`") }.sorted() == [])
  }

  @Test func `The schema's defaults are the reader's`() throws {
    let usual = PipelineDefinition.json(PipelineDefinition(name: "", vocabulary: .journal))
    let root = try #require(schema.shapes.first)
    for (key, node) in root.properties {
      guard let value = node["default"], let own = usual[key], key != "dialect", key != "duplicates" else { continue }
      #expect(value == own, "\(key)")
    }
    for (part, defaults) in [("limits", PipelineDefinition.json(LimitsDefinition()))] {
      let shape = try #require(schema.shapes.first { $0.path == part })
      for (key, node) in shape.properties { #expect(node["default"] == defaults[key], "\(part).\(key)") }
    }
  }

  @Test func `Every definition in the folder Pipelines fits the schema`() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: PipelineSchema.folder.path)
      .filter { $0.hasSuffix(".json") && !$0.hasSuffix(".schema.json") }.sorted()
    #expect(names.count >= 4)
    let documents = try names.map { name in
      var reader = JSONLocatingParser(try Data(contentsOf: PipelineSchema.folder.appendingPathComponent(name)))
      let data = try JSONSerialization.data(withJSONObject: try reader.read().plain)
      return String(decoding: data, as: UTF8.self)
    }
    let verdicts = try schema.verdicts(documents)
    #expect(zip(names, verdicts).filter { !$1 }.map(\.0) == [])
    #expect(verdicts.count == names.count)
  }
}

/// The reader and an independent validator come to the same verdict.
@Suite struct PipelineSchemaVerdictTests {
  /// What is there in addition to a name and columns.
  static let members: [(json: String, isValid: Bool)] = [
    (#""$schema": "pipeline.schema.json""#, true), (#""nmae": 1"#, false), (#""description": """#, false),
    (#""description": null"#, true), (#""source": "a.csv""#, true), (#""source": ["a.csv", "-"]"#, true),
    (#""source": [1]"#, false), (#""source": {}"#, false), (#""source": [""]"#, false), (#""source": """#, false),
    (#""sourceOptional": true"#, true), (#""sourceOptional": "yes""#, false),
    (#""inbox": "in""#, true), (#""inbox": {"folder": "in", "settleSeconds": 0.5}"#, true), (#""inbox": {}"#, false),
    (#""inbox": {"folder": "in", "settleSeconds": 86401}"#, false),
    (#""dialect": "rfc4180""#, true), (#""dialect": "rfc""#, false),
    (#""dialect": {"delimiter": "\t", "quote": null, "lineEnding": "crlf", "null": "\\N", "nulBytes": "keep"}"#, true),
    (#""dialect": {"delimiter": ";;"}"#, true), (#""dialect": {"delimiter": "é"}"#, true),
    (#""dialect": {"delimiter": "a\nb"}"#, false), (#""dialect": {"delimiter": ""}"#, false),
    (#""dialect": {"encoding": "windows-1252", "quoteChar": null, "escapeChar": "\\"}"#, true),
    (#""dialect": {"escapeChar": "ab"}"#, false), (#""dialect": {"doubleQuote": "no"}"#, false),
    (#""dialect": {"headerRows": 2, "skipRows": 3, "skipLastRows": 1, "stopAt": "Total"}"#, true),
    (#""dialect": {"headerRows": [1, 2]}"#, true), (#""dialect": {"headerRows": 11}"#, false),
    (#""dialect": {"skipRows": -1}"#, false), (#""dialect": {"skipBlankRows": 1}"#, false),
    (#""dialect": {"nullSequences": ["", "NA"], "decimalChar": ",", "groupChar": "."}"#, true),
    (#""dialect": {"nullSequences": [1]}"#, false), (#""dialect": {"decimalChar": ""}"#, false),
    (#""dialect": {"trueValues": "ja", "falseValues": ["nein"]}"#, true),
    (#""dialect": {"raggedRows": "pad"}"#, true), (#""dialect": {"raggedRows": ["pad", "joinLast"]}"#, true),
    (#""dialect": {"raggedRows": "drop"}"#, false), (#""dialect": {"fieldsMatch": "exact"}"#, true),
    (#""dialect": {"fieldsMatch": "partial"}"#, false), (#""dialect": {"mode": "lenient"}"#, true),
    (#""dialect": {"mode": "lax"}"#, false), (#""extraColumns": "error", "missingColumns": "ignore""#, true),
    (#""extraColumns": "drop""#, false), (#""timeZone": "Europe/Berlin""#, true), (#""timeZone": """#, false),
    (#""dialect": {"lineEnding": "cr"}"#, false), (#""dialect": {"columns": ["date", ""]}"#, true),
    (#""key": "date""#, true), (#""key": ["date", "rating"]"#, true), (#""key": [null]"#, false),
    (#""key": "date", "duplicates": "skip""#, true), (#""key": "date", "duplicates": "keepNewest""#, false),
    (#""key": "date", "duplicates": {"policy": "keepNewest", "by": "rating"}"#, true),
    (#""key": "date", "duplicates": {"policy": "update", "by": "rating"}"#, false),
    (#""key": "date", "duplicates": {"policy": "update", "columns": ["rating"]}"#, true),
    (#""key": "date", "duplicates": {"policy": "replace"}"#, false), (#""key": "date", "duplicates": {}"#, false),
    (#""store": "s""#, true), (#""store": 1"#, false), (#""model": "M", "entity": "E""#, true),
    (#""model": """#, false),
    (#""chunkRows": 1"#, true), (#""chunkRows": 0"#, false), (#""chunkRows": 1000001"#, false),
    (#""chunkRows": 1.5"#, false), (#""chunkRows": 7.0"#, true), (#""chunkRows": "7""#, false),
    (#""errorPolicy": "stop""#, true), (#""errorPolicy": "go""#, false),
    (#""errorBudget": {"errors": 0}"#, true), (#""errorBudget": {"percent": 0.5}"#, true),
    (#""errorBudget": {}"#, false), (#""errorBudget": {"percent": 101}"#, false), (#""errorBudget": 5"#, false),
    (#""errorBudget": {"errors": -1}"#, false), (#""errorBudget": {"errors": null}"#, false),
    (#""expect": {"records": {"min": 10, "maxPercentOfMean": 200, "lastRuns": 5}}"#, true),
    (#""expect": {"columns": [{"name": "date", "newestWithinDays": 0.5, "severity": "warning"}]}"#, true),
    (#""expect": {}"#, false), (#""expect": {"records": {"min": -1}}"#, false), (#""expect": []"#, false),
    (#""expect": {"columns": [{"emptyPercentMax": 5}]}"#, false),
    (#""expect": {"columns": [{"name": "wind", "emptyPercentMax": 101}]}"#, false),
    (#""expect": {"columns": [{"name": "wind", "distinctMax": 1001}]}"#, false),
    (#""expect": {"columns": [{"name": "wind", "distinctMin": 2, "severity": "fatal"}]}"#, false),
    (#""atomic": true, "appendOnly": false"#, true), (#""atomic": 1"#, false),
    (#""limits": {"issuesListedMax": 0, "fieldBytesMax": 1, "recordBytesMax": 268435456}"#, true),
    (#""limits": {"fieldBytesMax": 0}"#, false), (#""limits": {"keysInMemoryMax": 100000001}"#, false),
    (#""limits": {"rows": 1}"#, false), (#""limits": []"#, false),
    (#""report": "a.json""#, true), (#""report": ["a.txt", "b.html", "c.xml", "d.prom"]"#, true),
    (#""report": ["a.pdf"]"#, false), (#""report": "json""#, false),
    (#""charts": ["rating"]"#, true), (#""charts": 5"#, false), (#""rejects": "bad/""#, true),
    (#""log": "run.log""#, true), (#""log": {"level": "debug", "format": "json"}"#, true),
    (#""log": {"level": "loud"}"#, false), (#""timeoutSeconds": 0.5"#, true), (#""timeoutSeconds": -1"#, false),
    (#""report": ["r/{date}.html", "{pipeline}-{run}-{time}.json"]"#, true), (#""report": "{Date}.html""#, true),
    (#""notify": {"ping": "https://hc.example.org/abc"}"#, true), (#""notify": {}"#, false),
    (#""notify": {"ping": "ftp://example.org"}"#, false), (#""notify": {"ping": ""}"#, false),
    (#""notify": {"ping": {"url": {"file": "ping"}, "retries": 0, "retrySeconds": 0, "timeoutSeconds": 0.1}}"#, true),
    (#""notify": {"ping": {}}"#, false), (#""notify": {"ping": {"url": "https://a/b", "retries": 21}}"#, false),
    (#""notify": {"on": "always", "webhooks": [{"url": "http://a/b", "on": ["failure", "drift"]}]}"#, true),
    (#""notify": {"on": "never", "webhooks": [{"url": "http://a/b"}]}"#, false),
    (#""notify": {"webhooks": [{"url": "http://a b"}]}"#, false), (#""notify": {"webhooks": [{}]}"#, false),
    (#""notify": {"webhooks": [{"url": {"path": "a"}}]}"#, false), (#""notify": {"webhooks": "http://a/b"}"#, false),
    (#""notify": {"webhooks": [{"url": "${NONE:-http://a/b}", "headers": [{"name": "X-A", "value": "b"}]}]}"#, true),
    (#""notify": {"webhooks": [{"url": "http://a/b", "headers": [{"name": "X A", "value": "b"}]}]}"#, false),
    (#""notify": {"webhooks": [{"url": "http://a/b", "headers": [{"name": "X-A"}]}]}"#, false),
    (#""notify": {"commands": [{"run": ["./tell", ""], "summary": "json", "timeoutSeconds": 5}]}"#, true),
    (#""notify": {"commands": [{"run": []}]}"#, false), (#""notify": {"commands": [{"run": ["", "a"]}]}"#, false),
    (#""notify": {"commands": [{"run": "tell", "environment": [{"name": "A", "value": {"file": "a"}}]}]}"#, true),
    (#""notify": {"commands": [{"run": "tell", "summary": "xml"}]}"#, false),
    (#""notify": {"mails": [{"to": "a@example.org", "from": "b", "sendmail": ["/bin/mail"]}]}"#, true),
    (#""notify": {"mails": [{"to": []}]}"#, false), (#""notify": {"mails": [{"to": "a@b, c@d"}]}"#, false),
    (#""notify": {"mails": [{"to": "a", "sendmail": []}]}"#, false),
    (#""inbox": "in", "retention": {"processed": {"days": 30}, "rejects": {"count": 5}}"#, true),
    (#""report": "{date}.html", "retention": {"reports": {"days": 1, "count": 1}}"#, true),
    (#""retention": {}"#, false), (#""retention": {"rejects": {}}"#, false),
    (#""retention": {"rejects": {"days": 0}}"#, false), (#""retention": {"rejects": {"hours": 5}}"#, false),
    (#""read": {"run": ["cat", "{path}"], "timeoutSeconds": 5}"#, true), (#""read": {}"#, false),
    (#""read": {"run": ["cat", "{path}"], "range": ["dd", "{path}", "{first}", "{length}"]}"#, true),
    (#""read": {"run": []}"#, false), (#""read": {"run": ["cat", "{path}"], "timeoutSeconds": 0}"#, false),
    (#""export": {}"#, true), (#""export": {"limit": 0, "gzip": false, "hash": true, "output": "o.csv"}"#, true),
    (#""export": {"limit": -1}"#, false), (#""export": {"gzip": "no"}"#, false),
    (#""export": {"outputs": "o"}"#, false),
    (#""export": {"columns": ["date", {"attribute": "date", "format": ["yyyy-MM-dd", "iso8601"]}]}"#, true),
    (#""export": {"columns": [{"format": "iso8601"}]}"#, false), (#""export": {"columns": "date"}"#, false),
    (#""export": {"sort": ["-date", "rating", {"attribute": "wind", "ascending": false}]}"#, true),
    (#""export": {"sort": ["-"]}"#, false), (#""export": {"sort": [{"ascending": true}]}"#, false),
    (#""export": {"output": "{part}.csv", "split": {"rows": 5}}"#, true),
    (#""export": {"output": "{part}.csv", "split": {}}"#, false),
    (#""export": {"output": "{part}.csv", "split": {"rows": 5, "month": "date"}}"#, false),
    (#""export": {"output": "{month}.csv", "split": {"month": "date", "rows": null}}"#, true),
    (#""export": {"dialect": "journal-app"}"#, true), (#""export": {"predicate": "rating > 3"}"#, true),
    // Variables may stand for any text.
    (#""errorPolicy": "${NONE:-stop}""#, true), (#""report": "${NONE:-a.json}""#, true),
    (#""dialect": "${NONE:-rfc4180}""#, true), (#""dialect": {"delimiter": "${NONE:-;}"}"#, true),
  ]

  /// What a column may be.
  static let columns: [(json: String, isValid: Bool)] = [
    (#""wind""#, true), (#""""#, false), ("{}", false), (#"{"name": "wind"}"#, true), (#"{"name": ""}"#, false),
    (#"{"name": "wind", "synonyms": "w", "required": true, "rules": []}"#, true),
    (#"{"name": "wind", "formats": []}"#, true), (#"{"name": "wind", "format": "iso8601"}"#, false),
    (#"{"name": "when", "attribute": "wind", "from": ["day", "time"]}"#, true),
    (#"{"name": "wind", "from": [1]}"#, false),
    (#"{"name": "wind", "attribute": null}"#, true), (#"{"name": "wind", "required": "yes"}"#, false),
  ]

  static let rules: [(json: String, isValid: Bool)] = [
    (#""required""#, true), (#""notInFuture""#, true), (#""quantity""#, true), (#""range""#, false), ("7", false),
    (#"{"rule": "required", "severity": "warning"}"#, true), (#"{"rule": "required", "severity": "fatal"}"#, false),
    (#"{"rule": "required", "min": 1}"#, false), (#"{"min": 1}"#, false), (#"{"rule": "rnge", "min": 1}"#, false),
    (#"{"rule": "range", "min": 1, "max": 5.5}"#, true), (#"{"rule": "range", "max": 5}"#, true),
    (#"{"rule": "range"}"#, false), (#"{"rule": "range", "min": "1"}"#, false),
    (#"{"rule": "range", "min": null}"#, false),
    (#"{"rule": "length", "max": 5}"#, true), (#"{"rule": "length", "max": 5.5}"#, false),
    (#"{"rule": "length", "min": -1}"#, false), (#"{"rule": "notBefore", "date": "1900-01-01"}"#, true),
    (#"{"rule": "notBefore", "date": "1.1.1900"}"#, false), (#"{"rule": "notAfter"}"#, false),
    (#"{"rule": "notAfter", "date": "2100-01-01T00:00:00Z"}"#, true), (#"{"rule": "oneOf", "values": ["a"]}"#, true),
    (#"{"rule": "oneOf", "values": "a"}"#, true), (#"{"rule": "oneOf"}"#, false),
    (#"{"rule": "oneOf", "values": [1]}"#, false),
    (#"{"rule": "pattern", "matches": "^a$$"}"#, true), (#"{"rule": "pattern"}"#, false),
    (#"{"rule": "quantity", "units": ["ft"], "unitRequired": true, "ranges": false, "words": "Flat", "min": 0}"#, true),
    (#"{"rule": "quantity", "unit": "ft"}"#, false),
    (#""unique""#, true), (#"{"rule": "notOneOf", "values": ["?"]}"#, true), (#"{"rule": "notOneOf"}"#, false),
    (#"{"rule": "format", "kind": "uri"}"#, true), (#"{"rule": "format", "kind": "url"}"#, false),
    (#"{"minimum": 1, "maximum": 5}"#, true), (#"{"minimum": null}"#, false), (#"{"maximum": "5"}"#, false),
    (#"{"minimum": "1900-01-01"}"#, true), (#"{"minimum": "1900-01-01", "maximum": "2000-01-01"}"#, false),
    (#"{"minimum": "1900-01-01", "maximum": 5}"#, false), (#"{"minLength": 1, "maxLength": 5}"#, true),
    (#"{"maxLength": -1}"#, false), (#"{"maxLength": null}"#, false), (#"{"enum": ["a"]}"#, true),
    (#"{"enum": [1]}"#, false), (#"{"pattern": "a+", "severity": "warning"}"#, true),
    (#"{"required": false}"#, true), (#"{"unique": "yes"}"#, false), (#"{"minimum": 1, "maxLength": 2}"#, false),
  ]

  static let transforms: [(json: String, isValid: Bool)] = [
    (#""trim""#, true), (#""map""#, false), (#""trimm""#, false), (#"{"transform": "title"}"#, true), ("{}", false),
    (#"{"transform": "map", "values": {"a": "", "b": "c"}, "ignoreCase": true}"#, true),
    (#"{"transform": "map", "values": {}}"#, false), (#"{"transform": "map", "values": {"a": 1}}"#, false),
    (#"{"transform": "default", "value": "a"}"#, true), (#"{"transform": "default", "value": ""}"#, false),
    (#"{"transform": "replace", "matches": "a", "with": ""}"#, true),
    (#"{"transform": "replace", "matches": "a"}"#, false),
    (#"{"transform": "convert", "from": "ft", "to": "m", "digits": 0, "unitShown": true, "strict": true}"#, true),
    (#"{"transform": "convert", "from": "ft", "to": "yd"}"#, false),
    (#"{"transform": "convert", "from": "ft", "to": "m", "digits": 10}"#, false),
    (#"{"transform": "trim", "value": "a"}"#, false),
  ]

  static let recordRules: [(json: String, isValid: Bool)] = [
    (#"{"rule": "compare", "left": "date", "operator": "<=", "right": "wind", "as": "number"}"#, true),
    (#"{"rule": "compare", "left": "date", "operator": "=<", "right": "wind"}"#, false),
    (#"{"rule": "compare", "left": "date", "operator": "<"}"#, false), ("{}", false), (#""compare""#, false),
    (#"{"rule": "compare", "left": "a", "operator": "<", "right": "b", "as": "text"}"#, false),
    (#"{"rule": "anyOf", "columns": "date", "name": "n", "message": "m", "severity": "warning"}"#, true),
    (#"{"rule": "anyOf", "columns": []}"#, false), (#"{"rule": "anyOf", "columns": ["date", 1]}"#, false),
    (#"{"rule": "when", "if": {"column": "date", "is": "a"}, "then": {"column": "wind", "isEmpty": true}}"#, true),
    (#"{"rule": "when", "if": {"column": "date"}, "then": {"column": "wind", "isEmpty": true}}"#, false),
    (#"{"rule": "when", "if": {"column": "date", "is": "a"}, "then": []}"#, false),
    (#"{"rule": "when", "if": {"column": "date", "is": null}, "then": {"column": "wind", "isEmpty": true}}"#, false),
    (
      #"{"rule": "when", "if": {"any": [{"not": {"column": "a", ">=": {"column": "b"}, "<": 3}}]}, "#
        + #""then": [{"all": [{"column": "wind", "oneOf": ["a", 1, true]}]}]}"#, true
    ),
    (#"{"rule": "when", "if": {"any": []}, "then": {"column": "wind", "isEmpty": true}}"#, false),
    (#"{"rule": "when", "if": {"any": [7]}, "then": {"column": "wind", "isEmpty": true}}"#, false),
    (#"{"rule": "when", "if": {"column": "a", "is": [1]}, "then": {"column": "wind", "isEmpty": "no"}}"#, false),
  ]

  static let whole: [(json: String, isValid: Bool)] = [
    ("{}", false), ("[]", false), (#"{"name": "n"}"#, false), (#"{"columns": ["date"]}"#, false),
    (#"{"name": "n", "columns": []}"#, false), (#"{"name": "n", "export": {}}"#, true),
    (#"{"name": null, "export": {}}"#, false), (#"{"name": "n", "export": null}"#, false),
    (#"{"extends": "base.json"}"#, true), (#"{"extends": null, "name": "n", "export": {}}"#, true),
    (#"{"extends": null}"#, false), (#"{"extends": ["base.json"], "name": "n", "export": {}}"#, false),
    (#"{"extends": "", "name": "n", "export": {}}"#, false),
  ]

  @Test func `A definition is valid for both or for neither`() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(#"{"name": "base", "columns": ["date"]}"#, to: "base.json")
    func column(_ json: String) -> String { #"{"name": "n", "columns": ["date", \#(json)]}"# }
    let cases =
      Self.whole
      + Self.members.map { (#"{"name": "n", "columns": ["date", "rating"], \#($0.json)}"#, $0.isValid) }
      + Self.columns.map { (column($0.json), $0.isValid) }
      + Self.rules.map { (column(#"{"name": "wind", "rules": [\#($0.json)]}"#), $0.isValid) }
      + Self.transforms.map { (column(#"{"name": "wind", "transforms": [\#($0.json)]}"#), $0.isValid) }
      + Self.recordRules.map { (#"{"name": "n", "columns": ["date"], "recordRules": [\#($0.json)]}"#, $0.isValid) }
    let verdicts = try PipelineSchema().verdicts(cases.map(\.0))
    try #require(verdicts.count == cases.count)
    let file = URL(fileURLWithPath: folder.path("own.json"))
    for ((json, isValid), verdict) in zip(cases, verdicts) {
      let read = Result {
        try PipelineDefinition(
          data: Data(json.utf8), file: file, environment: .init(variables: [:], vocabulary: .journal))
      }
      var isRead = true
      if case .failure = read { isRead = false }
      #expect(isRead == isValid, "The reader on \(json): \(read)")
      #expect(verdict == isValid, "The schema on \(json)")
    }
  }
}
