/// A record of a made log: where its words stand among those of its field; nil for none.
struct LogRecord {
  var day: Int
  var time: Int
  var height: Int?
  var period: Int?
  var wind: Int?
  var place: Int?
  var rating: Int
}

/// What the fields of a made log say, as they are written.
struct LogWords {
  typealias Bytes = [UInt8]

  static let header = "date,height,period,wind,location,rating\n"

  let days = Self.everyDay
  let times = (5..<20).flatMap { hour in
    stride(from: 0, to: 60, by: 5).map { Bytes("T\(Self.two(hour)):\(Self.two($0)):00Z".utf8) }
  }
  let heights = Self.fields(Self.heightTexts)
  let periods = Self.fields((4...22).map { "\($0) sec" })
  let winds = Self.fields(Self.windTexts)
  let places: [Bytes]
  let ratings = ["1", "2", "2", "3", "3", "3", "3", "3", "3", "3", "4", "4", "4", "4", "4", "5", "5", "5", "5", ""]
    .map { Bytes($0.utf8) }

  /// - Parameter spots: How many places there are; nil for those with a name of their own.
  init(spots: Int? = nil) {
    let names = Self.placeTexts
    places = Self.fields(spots.map { (0..<$0).map { "\(names[$0 % names.count]) \($0)" } } ?? names)
  }

  func append(_ record: LogRecord, to bytes: inout Bytes) {
    bytes += days[record.day]
    bytes += times[record.time]
    let texts = [(heights, record.height), (periods, record.period), (winds, record.wind), (places, record.place)]
    for (choices, index) in texts {
      bytes.append(UInt8(ascii: ","))
      if let index { bytes += choices[index] }
    }
    bytes.append(UInt8(ascii: ","))
    bytes += ratings[record.rating]
    bytes.append(UInt8(ascii: "\n"))
  }

  private static let placeTexts = [
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
  private static let heightTexts = [
    "1-2ft", "2-3ft", "3-4ft", "3-5ft", "4-6ft", "6-8ft", "8-10ft", "10-12ft", "15-20ft", "2 ft", "3.9", "0.9-1.5m",
    "1.8m",
    "Flat", "Waist high", "Head high", "Overhead",
  ]
  private static let directions = ["N", "NNE", "NE", "E", "SE", "S", "SSW", "SW", "W", "WNW", "NW"]
  private static let windTexts =
    directions.flatMap { direction in [3, 6, 9, 12, 16, 22].map { "\(direction) \($0) kts" } }
    + ["Offshore", "Light offshore", "Onshore", "Cross-shore", "Glassy", "Calm", "Variable"]

  /// Every day from 2005 to 2025, as `2014-07-14`.
  private static var everyDay: [Bytes] {
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
}
