// Preconcurrency: getopt_long keeps its state in global variables, which only this file uses.
@preconcurrency import CGetopt
import Foundation
import SystemSupport

/// getopt_long(3): options and operands in any order; `--` ends the options; unambiguous abbreviations are accepted.
enum Getopt {
  enum Mistake: Error, Equatable {
    /// The option as written, with its dashes.
    case unknown(String)
    case ambiguous(String, candidates: [String])
    case valueMissing(CommandOption)
    case valueUnwanted(CommandOption)
  }

  struct Result {
    var options: [(option: CommandOption, value: String?)] = []
    var operands: [String] = []
  }

  /// Not reentrant, because getopt_long keeps its state in global variables: called once, before any thread is
  /// started.
  static func parse(_ arguments: [String], _ options: [CommandOption]) throws(Mistake) -> Result {
    // getopt_long reorders the pointers and keeps some: each text stays allocated until the end of this function.
    let words = (["surfjournal"] + arguments).map { $0.allocatedCString() }
    var argv = words + [nil]
    let names = options.map { $0.name.allocatedCString() }
    defer { for text in words + names { text.deallocate() } }
    let firstValue: Int32 = 256
    var long = options.indices.map { index in
      option(
        name: names[index], has_arg: options[index].placeholder == nil ? no_argument : required_argument,
        flag: nil,
        val: firstValue + Int32(index))
    }
    long.append(option())
    let letters = options.compactMap { option in
      option.letter.map { "\($0)\(option.placeholder == nil ? "" : ":")" }
    }
    // The colon suppresses messages and makes the result ':' if a value is missing.
    let short = ":" + letters.joined()
    let count = Int32(arguments.count + 1)
    func meant(_ value: Int32) -> CommandOption? {
      value >= firstValue
        ? options[Int(value - firstValue)]
        : options.first { $0.letter?.asciiValue.map(Int32.init) == value }
    }
    // Zero resets glibc's state.
    optind = 0
    opterr = 0
    var result = Result()
    while true {
      let value = getopt_long(count, &argv, short, long, nil)
      if value == -1 { break }
      if value == Int32(UInt8(ascii: ":")), let option = meant(optopt) { throw .valueMissing(option) }
      guard let option = value == Int32(UInt8(ascii: "?")) ? nil : meant(value) else {
        let word = argv[Int(optind) - 1].map { String(cString: $0) } ?? ""
        throw mistake(word: word, value: optopt, option: meant(optopt), options: options)
      }
      result.options.append((option, option.placeholder == nil ? nil : optarg.map { String(cString: $0) }))
    }
    result.operands = argv[Int(optind)..<Int(count)].compactMap { $0.map { String(cString: $0) } }
    return result
  }

  private static func mistake(
    word: String, value: Int32, option: CommandOption?, options: [CommandOption]
  ) -> Mistake {
    if let option, value >= 256 { return .valueUnwanted(option) }
    if value != 0, let scalar = Unicode.Scalar(UInt32(value)) { return .unknown("-\(scalar)") }
    let written = word.split(separator: "=", maxSplits: 1).first.map(String.init) ?? word
    let candidates = options.map { "--\($0.name)" }.filter { $0.hasPrefix(written) }
    return candidates.count > 1 ? .ambiguous(written, candidates: candidates) : .unknown(written)
  }
}
