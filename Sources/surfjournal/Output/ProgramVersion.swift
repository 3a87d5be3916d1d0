import CBuildStamp

/// The version of the program.
enum ProgramVersion {
  /// Semantic version of the command and of the libraries.
  static let number = "0.1.0"

  /// The version, with the commit that `.ci/stamp` has written into the program.
  static var text: String {
    guard let stamp = build_stamp_commit() else { return number }
    let bytes = (0..<64).map { UInt8(bitPattern: stamp[$0]) }.prefix { $0 != 0 }
    return bytes.isEmpty ? number : "\(number) (\(String(decoding: bytes, as: UTF8.self)))"
  }
}
