import CZlib

/// Gzip as zlib inflates it.
enum PlainGzip {
  /// The text of all members; nil for damaged data, and for what follows the members but zeros.
  static func inflate(_ bytes: [UInt8], bytesMax: Int) -> [UInt8]? {
    var text: [UInt8] = []
    var rest = bytes[...]
    repeat {
      guard let (member, used) = member(Array(rest), bytesMax: bytesMax - text.count) else { return nil }
      text += member
      rest = rest.dropFirst(used).drop { $0 == 0 }
    } while !rest.isEmpty
    return text
  }

  private static func member(_ bytes: [UInt8], bytesMax: Int) -> (text: [UInt8], used: Int)? {
    var stream = z_stream()
    // 16 asks for the header and trailer of gzip.
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: bytesMax)
    let code = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(output.count)
        return CZlib.inflate(&stream, Z_FINISH)
      }
    }
    guard code == Z_STREAM_END else { return nil }
    return (Array(output.prefix(Int(stream.total_out))), Int(stream.total_in))
  }
}
