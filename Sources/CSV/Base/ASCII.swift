/// The bytes that have the same meaning in every dialect.
enum ASCII {
  static let lf: UInt8 = 0x0A
  static let cr: UInt8 = 0x0D
  static let tab: UInt8 = 0x09
  static let space: UInt8 = 0x20
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
}
