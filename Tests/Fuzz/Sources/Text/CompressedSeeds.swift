import Foundation

/// Small compressed texts.
enum CompressedSeeds {
  static let all: [[UInt8]] = texts.map { Array(Data(base64Encoded: $0) ?? Data()) }

  private static let texts = [
    // gzip
    "H4sIAAAAAAACAzXPuw2AMBAE0dy1ELC7/NwQBWDRP0I3jia6p73xPveytvFHFVdS2Sp75aiclavSOZ8MjoCEJChhCUxoghOe8Tx3"
      + "4RnPeMYznvGMZ7zgBS/zUbzgBS94wQteevsAo5SEujYBAAA=",
    // gzip with a name, then zeros
    "H4sICAAAAAAC/3N1cmYuY3N2AEvUSeICAMUQlyQEAAAAH4sIAAAAAAACAzXPuw2AMBAE0dy1ELC7/NwQBWDRP0I3jia6p73xPvey"
      + "tvFHFVdS2Sp75aiclavSOZ8M",
    // Zstandard after a frame to skip
    "UCpNGAQAAAABAgMEKLUv/QRYtQMARANzdXJmLDAKc3VyZiwxMjM0NTY3ODkxMTExMTExMTEyMjIyMjIyMjIyMzMzMzMzMzMzMzkK"
      + "JiCAk9IDWfLNLIt8mc2ST2ZZ5MtMlnyZzZJPZmeZyCeVWVQWqHxPmTllacrHlHkpm0LYIeMONsS4wQwB49IQv6/JK2c=",
    // xz
    "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4ABPACJdADmdSoyei8bsBGmAsqITSPyXPNWq0dnttbAt1ttUrdw0AAAAAABP9jMCHISz"
      + "6QABPlCi/ygKH7bzfQEAAAAABFla",
    // bzip2
    "QlpoOTFBWSZTWVJ+KcYAABxZgAAQAAR/4AEAGgAgACEVAAAUwAE0jqdK2vjOsbU3mAnFPA9U8D8XckU4UJBSfinG",
    // zip
    "UEsDBBQAAAAIAAAAIQBK7rr2HgAAADwAAAAIAAAAc3VyZi5jc3YrLi1K0zHgKgZRhhDKCEIZQygTCGUKocwglDmYAgBQSwECFAMU"
      + "AAAACAAAACEASu669h4AAAA8AAAACAAAAAAAAAAAAAAAgAEAAAAAc3VyZi5jc3ZQSwUGAAAAAAEAAQA2AAAARAAAAAAA",
  ]
}
