/// SHA-256 and SHA-512 (FIPS 180-4), which version hashes need.
///
/// Own code because neither Foundation on Linux nor the C library has a plain SHA-2, and CryptoKit exists on Apple's
/// platforms only. libmd and OpenSSL have it, but every machine that builds a client's model would need one more
/// package (docs/decisions/0008-own-sha-2.md). Only model descriptions are hashed, so the code is short rather than
/// fast.
protocol SHA2Variant {
  associatedtype Word: FixedWidthInteger & UnsignedInteger & Sendable
  static var rounds: Int { get }
  /// Rotations (and as the last number a shift) of the two message schedule functions.
  static var scheduleShifts: ((Word, Word, Word), (Word, Word, Word)) { get }
  /// Rotations of the two compression functions.
  static var roundShifts: ((Word, Word, Word), (Word, Word, Word)) { get }
}

enum SHA256: SHA2Variant {
  typealias Word = UInt32
  static let rounds = 64
  static var scheduleShifts: ((Word, Word, Word), (Word, Word, Word)) { ((7, 18, 3), (17, 19, 10)) }
  static var roundShifts: ((Word, Word, Word), (Word, Word, Word)) { ((2, 13, 22), (6, 11, 25)) }
}

enum SHA512: SHA2Variant {
  typealias Word = UInt64
  static let rounds = 80
  static var scheduleShifts: ((Word, Word, Word), (Word, Word, Word)) { ((1, 8, 7), (19, 61, 6)) }
  static var roundShifts: ((Word, Word, Word), (Word, Word, Word)) { ((28, 34, 39), (14, 18, 41)) }
}

extension SHA2Variant {
  /// The digest of `message`: 32 bytes for SHA-256, 64 for SHA-512.
  static func digest(of message: [UInt8]) -> [UInt8] {
    let wordBytes = Word.bitWidth / 8
    let blockBytes = 16 * wordBytes
    let constants = SHA2Constants.cubeRoots.prefix(rounds).map(leading)
    var state = SHA2Constants.squareRoots.map(leading)
    let padded = pad(message, blockBytes: blockBytes, lengthBytes: 2 * wordBytes)
    for start in stride(from: 0, to: padded.count, by: blockBytes) {
      compress(schedule(padded[start..<start + blockBytes]), constants, into: &state)
    }
    return state.flatMap { word in
      (0..<wordBytes).map { UInt8(truncatingIfNeeded: word >> Word(Word.bitWidth - 8 - 8 * $0)) }
    }
  }

  /// The message, a one bit, zeros up to a full block, and the length in bits at the end.
  private static func pad(_ message: [UInt8], blockBytes: Int, lengthBytes: Int) -> [UInt8] {
    var padded = message + [0x80]
    while padded.count % blockBytes != blockBytes - lengthBytes { padded.append(0) }
    padded += Array(repeating: 0, count: lengthBytes - 8)
    let bitCount = UInt64(message.count) * 8
    for shift in stride(from: 56, through: 0, by: -8) {
      padded.append(UInt8(truncatingIfNeeded: bitCount >> shift))
    }
    return padded
  }

  private static func schedule(_ block: ArraySlice<UInt8>) -> [Word] {
    let wordBytes = Word.bitWidth / 8
    var words = stride(from: block.startIndex, to: block.endIndex, by: wordBytes).map { start in
      block[start..<start + wordBytes].reduce(Word(0)) { $0 << 8 | Word($1) }
    }
    let (early, late) = scheduleShifts
    for index in 16..<rounds {
      let old = words[index - 15]
      let new = words[index - 2]
      let first = rotate(old, early.0) ^ rotate(old, early.1) ^ (old >> early.2)
      let second = rotate(new, late.0) ^ rotate(new, late.1) ^ (new >> late.2)
      words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
    }
    return words
  }

  private static func compress(_ words: [Word], _ constants: [Word], into state: inout [Word]) {
    let (upper, lower) = roundShifts
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for index in 0..<rounds {
      let mixedE = rotate(e, lower.0) ^ rotate(e, lower.1) ^ rotate(e, lower.2)
      let choice = (e & f) ^ (~e & g)
      let first = h &+ mixedE &+ choice &+ constants[index] &+ words[index]
      let mixedA = rotate(a, upper.0) ^ rotate(a, upper.1) ^ rotate(a, upper.2)
      let majority = (a & b) ^ (a & c) ^ (b & c)
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ mixedA &+ majority)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
  }

  private static func rotate(_ word: Word, _ bits: Word) -> Word {
    word >> bits | word << (Word(Word.bitWidth) - bits)
  }

  /// SHA-256 uses the upper halves of the constants of SHA-512.
  private static func leading(_ constant: UInt64) -> Word { Word(constant >> UInt64(64 - Word.bitWidth)) }
}

/// The first 64 fractional bits of the roots of the first primes (FIPS 180-4, 4.2.3 and 5.3.5).
private enum SHA2Constants {
  static let squareRoots: [UInt64] = [
    0x6a09e667_f3bcc908, 0xbb67ae85_84caa73b, 0x3c6ef372_fe94f82b, 0xa54ff53a_5f1d36f1,
    0x510e527f_ade682d1, 0x9b05688c_2b3e6c1f, 0x1f83d9ab_fb41bd6b, 0x5be0cd19_137e2179,
  ]

  static let cubeRoots: [UInt64] = [
    0x428a2f98_d728ae22, 0x71374491_23ef65cd, 0xb5c0fbcf_ec4d3b2f, 0xe9b5dba5_8189dbbc,
    0x3956c25b_f348b538, 0x59f111f1_b605d019, 0x923f82a4_af194f9b, 0xab1c5ed5_da6d8118,
    0xd807aa98_a3030242, 0x12835b01_45706fbe, 0x243185be_4ee4b28c, 0x550c7dc3_d5ffb4e2,
    0x72be5d74_f27b896f, 0x80deb1fe_3b1696b1, 0x9bdc06a7_25c71235, 0xc19bf174_cf692694,
    0xe49b69c1_9ef14ad2, 0xefbe4786_384f25e3, 0x0fc19dc6_8b8cd5b5, 0x240ca1cc_77ac9c65,
    0x2de92c6f_592b0275, 0x4a7484aa_6ea6e483, 0x5cb0a9dc_bd41fbd4, 0x76f988da_831153b5,
    0x983e5152_ee66dfab, 0xa831c66d_2db43210, 0xb00327c8_98fb213f, 0xbf597fc7_beef0ee4,
    0xc6e00bf3_3da88fc2, 0xd5a79147_930aa725, 0x06ca6351_e003826f, 0x14292967_0a0e6e70,
    0x27b70a85_46d22ffc, 0x2e1b2138_5c26c926, 0x4d2c6dfc_5ac42aed, 0x53380d13_9d95b3df,
    0x650a7354_8baf63de, 0x766a0abb_3c77b2a8, 0x81c2c92e_47edaee6, 0x92722c85_1482353b,
    0xa2bfe8a1_4cf10364, 0xa81a664b_bc423001, 0xc24b8b70_d0f89791, 0xc76c51a3_0654be30,
    0xd192e819_d6ef5218, 0xd6990624_5565a910, 0xf40e3585_5771202a, 0x106aa070_32bbd1b8,
    0x19a4c116_b8d2d0c8, 0x1e376c08_5141ab53, 0x2748774c_df8eeb99, 0x34b0bcb5_e19b48a8,
    0x391c0cb3_c5c95a63, 0x4ed8aa4a_e3418acb, 0x5b9cca4f_7763e373, 0x682e6ff3_d6b2b8a3,
    0x748f82ee_5defb2fc, 0x78a5636f_43172f60, 0x84c87814_a1f0ab72, 0x8cc70208_1a6439ec,
    0x90befffa_23631e28, 0xa4506ceb_de82bde9, 0xbef9a3f7_b2c67915, 0xc67178f2_e372532b,
    0xca273ece_ea26619c, 0xd186b8c7_21c0c207, 0xeada7dd6_cde0eb1e, 0xf57d4f7f_ee6ed178,
    0x06f067aa_72176fba, 0x0a637dc5_a2c898a6, 0x113f9804_bef90dae, 0x1b710b35_131c471b,
    0x28db77f5_23047d84, 0x32caab7b_40c72493, 0x3c9ebe0a_15c9bebc, 0x431d67c4_9c100d4c,
    0x4cc5d4be_cb3e42b6, 0x597f299c_fc657e2a, 0x5fcb6fab_3ad6faec, 0x6c44198c_4a475817,
  ]
}
