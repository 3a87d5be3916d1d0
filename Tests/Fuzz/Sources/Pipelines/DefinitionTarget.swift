import CSV
import Foundation
import PipelineDefinition
import SurfJournal

@testable import PipelineDefinition

/// Any text gives a definition, or mistakes with their source locations; a definition is written as what is read back.
enum DefinitionTarget: FuzzTarget {
  static let name = "definitions"
  static let bytesMax = 2048
  static let words: [String] =
    PipelineDefinition.CodingKeys.allCases.map { "\"\($0.rawValue)\": " } + [
      "\"delimiter\": ", "\"quoteChar\": ", "\"header\": ", "\"encoding\": ", "\"lineTerminator\": ",
      "\"commentChar\": ",
      "\"rules\": ", "\"rule\": ", "\"transforms\": ", "\"attribute\": ", "\"synonyms\": ", "\"formats\": ",
      "\"pattern\": ", "\"units\": ", "\"min\": ", "\"max\": ", "\"fields\": ", "\"schema\": ", "\"resources\": ",
      "\"constraints\": ", "\"missingValues\": ", "\"type\": ", "\"format\": ", "\"output\": ", "\"${HOME}\"", "//",
      "/*", "*/", "Infinity", "0x1F", "'", "\\u0041", "null", "true", "[", "]", "{", "}",
    ]
  static let seeds: [[UInt8]] =
    [
      """
      { // a comment
        "name": "a", "dialect": {"delimiter": ";", "quoteChar": "'", "header": true, "skipRows": 1},
        "columns": [{"name": "date", "formats": ["d.M.yy", "iso8601"], "rules": ["required", "notInFuture"]},
          {"name": "rating", "synonyms": ["stars"], "rules": [{"rule": "range", "min": 1, "max": 5}]}],
        "key": ["date"], "chunkRows": 100, "export": {"output": "${OUT:-a}.csv"}, "recordRules": [] }
      """,
      """
      {"fields": [{"name": "a", "type": "integer", "constraints": {"required": true, "minimum": 1}},
       {"name": "d", "type": "date", "format": "%d/%m/%Y"}], "missingValues": ["", "-"], "primaryKey": "a"}
      """,
      """
      {"resources": [{"path": "a.csv", "dialect": {"delimiter": "|"}, "schema": {"fields": [{"name": "b"}]}}],
       "timeZone": "Europe/Berlin", "expect": {"records": {"min": 1}}, "limits": {"recordBytesMax": 5}, 'log': 'x'}
      """,
    ].map { Array($0.utf8) } + PipelineDefinition.presets.map { Array(text($0).utf8) }

  private static func text(_ definition: PipelineDefinition) -> String {
    (try? JSONEncoder().encode(definition.minimalJSON)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  private static let environment = DefinitionEnvironment(variables: ["OUT": "x", "EMPTY": ""], vocabulary: .journal)

  static func run(_ input: inout FuzzInput) {
    let bytes = input.rest
    // Bases are read from files, which are not the target's.
    if String(decoding: bytes, as: UTF8.self).contains("extends") { return }
    do throws(PipelineError) {
      let definition = try PipelineDefinition(data: Data(bytes), environment: environment)
      check(definition)
    } catch {
      if error.mistakes.isEmpty { broken("a refused definition has a mistake") }
      let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
      for mistake in error.mistakes {
        guard let line = mistake.line, let column = mistake.column else {
          broken("a mistake has a source location", "\(mistake)")
        }
        if !(1...lines.count).contains(line) || !(1...lines[line - 1].count + 2).contains(column) {
          broken("a source location is in the text", "\(mistake)")
        }
        if mistake.message.isEmpty { broken("a mistake has a message") }
      }
    }
  }

  private static func check(_ definition: PipelineDefinition) {
    let json = definition.minimalJSON
    do {
      let data = try JSONEncoder().encode(json)
      let again = try PipelineDefinition(data: data, environment: environment)
      requireEqual(again.minimalJSON, json, rule: "a definition is written as what is read back")
    } catch {
      broken("a written definition is read", "\(error)\n\(json)")
    }
    if definition.dialect.csvFault == nil {
      do throws(CSVError) { try definition.dialect.csv.validate() } catch {
        broken("a definition's dialect is valid", "\(error)")
      }
    }
  }
}
