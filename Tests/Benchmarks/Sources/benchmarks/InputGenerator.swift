import Foundation

/// Writes a surf log of any size, for one size the same everywhere: random times of 21 years, texts of the usual
/// lengths, about one in a hundred empty, places with commas, quotes, accents and other scripts. About 60 bytes a
/// record.
struct InputGenerator {
  /// Counts up when the same size gets other bytes, so that no older file is taken for it.
  static let version = 1

  private typealias Bytes = [UInt8]

  private static let header = "date,height,period,wind,location,rating\n"
  private static let places = [
    "Rincon", "C Street, Ventura", "Malibu, First Point", "Steamer Lane", "Pleasure Point",
    "Ocean Beach, San Francisco",
    "Mavericks", "Trestles", "Black's Beach", "El Porto", "\"The Ranch\"", "Ditch Plains, \"the Ditch\"",
    "Banzai Pipeline",
    "Hoʻokipa, Maui", "Honolua Bay", "Scorpion Bay", "Playa Hermosa, Jacó", "Pavones", "Soup Bowl, Bathsheba",
    "Chicama",
    "María's, Rincón", "Máncora", "Punta de Lobos", "Praia do Norte, Nazaré", "Supertubos, Peniche", "Mundaka",
    "Zarautz",
    "La Gravière, Hossegor", "Côte des Basques", "La Torche", "Croyde", "Thurso East", "Bundoran, \"The Peak\"",
    "Lahinch", "Unstad, Lofoten", "Klitmøller (Cold Hawaii)", "Anchor Point", "إمسوان", "N'Gor, Dakar", "Skeleton Bay",
    "Supertubes, Jeffreys Bay", "Arugam Bay", "Uluwatu", "Padang Padang", "G-Land", "Cloud 9, Siargao", "日月湾, 万宁",
    "志田下, 一宮町", "湘南 鵠沼海岸", "Snapper Rocks", "The Pass, Byron Bay", "Bells Beach", "Margaret River", "Raglan",
    "Cloudbreak, Tavarua", "Teahupoʻo",
  ]
  private static let heights = [
    "1-2ft", "2-3ft", "3-4ft", "3-5ft", "4-6ft", "6-8ft", "8-10ft", "10-12ft", "15-20ft", "2 ft", "3.9", "0.9-1.5m",
    "1.8m",
    "Flat", "Waist high", "Head high", "Overhead",
  ]
  private static let directions = ["N", "NNE", "NE", "E", "SE", "S", "SSW", "SW", "W", "WNW", "NW"]
  private static let winds =
    directions.flatMap { direction in [3, 6, 9, 12, 16, 22].map { "\(direction) \($0) kts" } }
    + ["Offshore", "Light offshore", "Onshore", "Cross-shore", "Glassy", "Calm", "Variable"]

  private var state: UInt64 = 0x5EED

  static func write(rows: Int, to path: String) throws {
    let temporary = path + ".part"
    guard FileManager.default.createFile(atPath: temporary, contents: nil),
      let file = FileHandle(forWritingAtPath: temporary)
    else { throw BenchmarkFailure("\(temporary) can't be made") }
    var generator = InputGenerator()
    try generator.write(rows: rows, to: file)
    try file.close()
    _ = try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: temporary, toPath: path)
  }

  private mutating func write(rows: Int, to file: FileHandle) throws {
    let days = Self.days
    let times = (5..<20).flatMap { hour in
      stride(from: 0, to: 60, by: 5).map { Bytes("T\(Self.two(hour)):\(Self.two($0)):00Z".utf8) }
    }
    let columns = [Self.heights, (4...22).map { "\($0) sec" }, Self.winds, Self.places].map(Self.fields)
    let ratings = ["1", "2", "2", "3", "3", "3", "3", "3", "3", "3", "4", "4", "4", "4", "4", "5", "5", "5", "5", ""]
      .map { Bytes($0.utf8) }
    var bytes = Bytes(Self.header.utf8)
    for _ in 0..<rows {
      bytes += one(of: days)
      bytes += one(of: times)
      for column in columns {
        bytes.append(UInt8(ascii: ","))
        if number(below: 100) > 0 { bytes += one(of: column) }
      }
      bytes.append(UInt8(ascii: ","))
      bytes += one(of: ratings)
      bytes.append(UInt8(ascii: "\n"))
      if bytes.count > 1 << 20 {
        try file.write(contentsOf: bytes)
        bytes.removeAll(keepingCapacity: true)
      }
    }
    try file.write(contentsOf: bytes)
  }

  /// Every day from 2005 to 2025, as `2014-07-14`.
  private static var days: [Bytes] {
    (2005...2025).flatMap { year in
      (1...12).flatMap { month in
        let isLeap = year.isMultiple(of: 4)
        let length = month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
        return (1...length).map { Bytes("\(year)-\(two(month))-\(two($0))".utf8) }
      }
    }
  }

  /// Texts as fields of RFC 4180.
  private static func fields(_ texts: [String]) -> [Bytes] {
    texts.map { text in
      let needsQuotes = text.contains { "\",\r\n".contains($0) }
      return Bytes((needsQuotes ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : text).utf8)
    }
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private mutating func one(of choices: [Bytes]) -> Bytes { choices[number(below: choices.count)] }

  private mutating func number(below bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// SplitMix64.
  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
