/// The command line.
struct Options {
  static let usage = """
    Usage: benchmarks [options]

      --rows N          records of the input that is made; without it 1000000
      --rounds N        how often each program is timed; without it 5
      --input FILE      measure with this log (header, ISO dates with whole seconds in UTC, RFC 4180, LF) instead
      --only GROUPS     only these groups, such as import,export; there are \(groupNames)
      --no-peers        leave other people's programs out
      --yardstick       also run the yardsticks of ../shared/bench, or of the folder that SURFJOURNAL_SHARED names
      --markdown FILE   also write the figures as a page of the documentation
      --check           end with status 1 if a floor is not kept; they are meant for 1000000 records and more

    """

  private static let groupNames = Group.allCases.map(\.rawValue).joined(separator: ", ")

  var rows = 1_000_000
  var rounds = 5
  var input: String?
  var groups = Group.allCases
  var includesPeers = true
  var includesYardstick = false
  var markdown: String?
  var checksFloors = false

  /// A mistake in the command line.
  struct Misuse: Error, CustomStringConvertible {
    let description: String
  }

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let name = rest.popFirst() {
      switch name {
      case "--check": checksFloors = true
      case "--no-peers": includesPeers = false
      case "--yardstick": includesYardstick = true
      case "--rows": rows = try Self.number(Self.value(of: name, &rest), name)
      case "--rounds": rounds = try Self.number(Self.value(of: name, &rest), name)
      case "--input": input = try Self.value(of: name, &rest)
      case "--only": groups = try Self.groups(Self.value(of: name, &rest))
      case "--markdown": markdown = try Self.value(of: name, &rest)
      default: throw Misuse(description: "there is no option '\(name)'; --help lists them")
      }
    }
  }

  private static func value(of name: String, _ rest: inout ArraySlice<String>) throws -> String {
    guard let value = rest.popFirst() else { throw Misuse(description: "\(name) needs a value") }
    return value
  }

  private static func number(_ text: String, _ name: String) throws -> Int {
    guard let number = Int(text), number > 0 else { throw Misuse(description: "\(name) takes a number above 0") }
    return number
  }

  private static func groups(_ text: String) throws -> [Group] {
    try text.split(separator: ",").map { name in
      guard let group = Group(rawValue: String(name)) else {
        throw Misuse(description: "there is no group '\(name)'; there are \(groupNames)")
      }
      return group
    }
  }
}
