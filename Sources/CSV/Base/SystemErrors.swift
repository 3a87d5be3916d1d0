#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The system's message for an error number, with advice for the common ones.
package func systemMessage(_ code: Int32) -> String {
  var text = [CChar](repeating: 0, count: 256)
  _ = strerror_r(code, &text, text.count)
  let words = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  guard let advice = advice(code) else { return words }
  return "\(words); \(advice)"
}

private func advice(_ code: Int32) -> String? {
  switch code {
  case ENOENT: "check the path"
  case EACCES, EPERM: "check the permissions of the file and of its folder"
  case EISDIR: "name a file, not a folder"
  case ENOSPC, EDQUOT: "free some space and run again"
  case EPIPE: "the reader of the output is closed"
  case EROFS: "choose a folder that can be written to"
  default: nil
  }
}
