/// The command line.
struct Options {
  static let usage = """
    Usage: benchmarks [options]
           benchmarks profile [--rows N] [--runs N] [--markdown FILE]

      --rows N          records of the input that is made; without it 1000000
      --rounds N        how often each program is timed; without it 5
      --input FILE      measure with this log (header, ISO dates with whole seconds in UTC, RFC 4180, LF) instead;
                        the groups \(names(Group.ofOwnLogs.sorted { $0.rawValue < $1.rawValue })) are left out then
      --only GROUPS     only these groups, such as import,export; there are \(names(Group.allCases))
      --all             every group; without it all but long, which takes minutes and 5 GB, and server, which
                        needs PostgreSQL
      --no-peers        leave other people's programs out
      --yardstick       also run the yardsticks of ../shared/bench, or of the folder that SURFJOURNAL_SHARED names
      --markdown FILE   also write the figures as a page of the documentation
      --check           end with status 1 if a floor is not kept, or a figure is clearly worse than the stored one;
                        meant for 1000000 records and more
      --store-ratios    store the floors' figures in Tests/Benchmarks/ratios.json, for --check to compare with

    'profile' says what a row costs by stage; it needs perf.

    """

  private static func names(_ groups: [Group]) -> String { groups.map(\.rawValue).joined(separator: ", ") }

  var rows = 1_000_000
  var rounds = 5
  var input: String?
  var groups = Group.ordinary
  var includesPeers = true
  var includesYardstick = false
  var markdown: String?
  var checks = false
  var storesRatios = false

  /// A mistake in the command line.
  struct Misuse: Error, CustomStringConvertible {
    let description: String
  }

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let name = rest.popFirst() {
      switch name {
      case "--all": groups = Group.allCases
      case "--check": checks = true
      case "--store-ratios": storesRatios = true
      case "--no-peers": includesPeers = false
      case "--yardstick": includesYardstick = true
      case "--rows": rows = try Self.number(of: name, &rest)
      case "--rounds": rounds = try Self.number(of: name, &rest)
      case "--input": input = try Self.value(of: name, &rest)
      case "--only": groups = try Self.groups(Self.value(of: name, &rest))
      case "--markdown": markdown = try Self.value(of: name, &rest)
      default: throw Misuse(description: "there is no option '\(name)'; --help lists them")
      }
    }
    if input != nil { groups.removeAll { Group.ofOwnLogs.contains($0) } }
    if groups.isEmpty { throw Misuse(description: "no group is left to measure with --input") }
  }

  static func value(of name: String, _ rest: inout ArraySlice<String>) throws -> String {
    guard let value = rest.popFirst() else { throw Misuse(description: "\(name) needs a value") }
    return value
  }

  static func number(of name: String, _ rest: inout ArraySlice<String>) throws -> Int {
    guard let number = Int(try value(of: name, &rest)), number > 0 else {
      throw Misuse(description: "\(name) takes a number above 0")
    }
    return number
  }

  private static func groups(_ text: String) throws -> [Group] {
    let named = try text.split(separator: ",").map { name in
      guard let group = Group(rawValue: String(name)) else {
        throw Misuse(description: "there is no group '\(name)'; there are \(names(Group.allCases))")
      }
      return group
    }
    return Group.allCases.filter(named.contains)
  }
}
