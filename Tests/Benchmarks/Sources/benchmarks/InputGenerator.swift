import CSV
import Foundation

/// Writes a surf log of any size, the same for the same number of rows everywhere: random dates of 21 years, texts of
/// the usual lengths, one field in a hundred empty, places with commas, quotes and accents.
struct InputGenerator {
  private static let places = [
    "Ocean Beach, San Francisco", "Steamer Lane", "Kauaʻi, \"Pines\"", "La Gravière", "Mundaka", "Bells Beach",
    "Nazaré, Praia do Norte", "Jeffreys Bay, \"Supertubes\"", "Raglan", "Teahupo'o", "Chiba, 志田下", "Thurso East",
    "Malibu First Point", "Rincon", "Blacks", "Lower Trestles", "Cloudbreak", "Uluwatu", "Noosa, Tea Tree",
    "Muizenberg",
  ]
  private static let heights = ["2-3ft", "3-5ft", "1.8m", "Flat", "Waist high", "6-8ft", "0.9-1.5m", "Overhead"]
  private static let winds = ["N 4 kts", "Offshore", "WSW 12 kts", "Glassy", "Cross-shore", "NE 22 kts", "Variable"]

  private var state: UInt64 = 0x5EED

  static func write(rows: Int, to path: String, gzip: Bool) throws(CSVError) {
    var generator = InputGenerator()
    let sink = try ByteSink(path: path, compression: gzip ? .gzip() : .none)
    var writer = try CSVWriter(sink)
    try writer.write(["date", "height", "period", "wind", "location", "rating"])
    for _ in 0..<rows { try generator.writeRecord(&writer) }
    try writer.flush()
    try sink.commit()
  }

  private mutating func writeRecord(_ writer: inout CSVWriter) throws(CSVError) {
    let minutes = Int(next() % (21 * 365 * 24 * 60))
    let (day, minute) = (minutes / 1440, minutes % 1440)
    let (year, rest) = (2005 + day / 365, day % 365)
    let (month, date) = (min(12, rest / 30 + 1), rest % 28 + 1)
    try writer.append(
      field: "\(year)-\(two(month))-\(two(date))T\(two(minute / 60)):\(two(minute % 60)):00Z")
    try writer.append(field: some(Self.heights))
    try writer.append(field: next() % 100 == 0 ? "" : "\(4 + next() % 18) sec")
    try writer.append(field: some(Self.winds))
    try writer.append(field: some(Self.places))
    try writer.append(field: next() % 20 == 0 ? "" : "\(1 + next() % 5)")
    try writer.endRecord()
  }

  private mutating func some(_ texts: [String]) -> String {
    next() % 100 == 0 ? "" : texts[Int(next() % UInt64(texts.count))]
  }

  private func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// SplitMix64.
  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
