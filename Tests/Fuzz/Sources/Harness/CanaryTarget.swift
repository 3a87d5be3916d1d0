/// A planted fault: a fuzzer that does not find it would find no other.
enum CanaryTarget: FuzzTarget {
  static let name = "canary"
  static let seeds = [Array("surf".utf8)]

  static func run(_ input: inout FuzzInput) {
    guard input.byte() == UInt8(ascii: "S"), input.byte() == UInt8(ascii: "W"), input.byte() == UInt8(ascii: "E"),
      input.byte() == UInt8(ascii: "L"), input.byte() == UInt8(ascii: "L")
    else { return }
    broken("the planted fault is found")
  }
}
