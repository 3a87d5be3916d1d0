import ManagedObjectModel
import CZlib
import Foundation

/// Bytes compressed by DEFLATE without a header, the format in which stores keep their models.
enum RawDeflate {
  /// Larger than any model: data that expands beyond it is malicious.
  static let inflatedBytesMax = 64 << 20

  /// - Throws: The reason why bytes don't inflate, or that they inflate to more than `bytesMax`.
  static func inflate(_ data: Data, bytesMax: Int = inflatedBytesMax) throws(ArchiveProblem) -> Data {
    var stream = z_stream()
    guard inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw ArchiveProblem("the memory does not suffice to inflate it")
    }
    defer { inflateEnd(&stream) }
    var input = Array(data)
    var inflated = Data()
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    // Both buffers stay at their addresses while the stream points into them.
    let code = input.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = UInt32(clamping: input.count)
      return piece.withUnsafeMutableBufferPointer { piece in
        var code = Z_OK
        while code == Z_OK, inflated.count <= bytesMax {
          stream.next_out = piece.baseAddress
          stream.avail_out = UInt32(piece.count)
          code = CZlib.inflate(&stream, Z_NO_FLUSH)
          inflated.append(contentsOf: piece.prefix(piece.count - Int(stream.avail_out)))
        }
        return code
      }
    }
    guard inflated.count <= bytesMax else { throw ArchiveProblem("it inflates to more than \(bytesMax >> 20) MiB") }
    switch code {
    case Z_STREAM_END: return inflated
    case Z_BUF_ERROR: throw ArchiveProblem("its compressed bytes are cut off after \(data.count)")
    default: throw ArchiveProblem("its compressed bytes are damaged")
    }
  }
}
