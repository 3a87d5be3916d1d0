import CCurl
import Foundation

/// Sends requests with the system's libcurl, which is loaded when the first one is sent.
// Safe: pointers to functions of a library that stays loaded, and nothing changes them.
struct HTTPClient: @unchecked Sendable {
  private let functions: curl_functions

  private static let loaded: (client: HTTPClient?, problem: String) = {
    var functions = curl_functions()
    if curl_load(&functions) { return (HTTPClient(functions: functions), "") }
    return (nil, dlerror().map { String(cString: $0) } ?? "unknown reason")
  }()

  /// The client of the process.
  ///
  /// - Throws: Why libcurl can't be used, and what to install.
  static func shared() throws(Undelivered) -> HTTPClient {
    if let client = loaded.client { return client }
    throw Undelivered("the system's libcurl can't be loaded (\(loaded.problem)); install the package libcurl4")
  }

  private init(functions: curl_functions) { self.functions = functions }

  /// One POST.
  struct Request {
    var url: String
    var body: [UInt8]
    /// In the form `Name: value`, without line breaks.
    var headers: [String]
    /// The name of the program.
    var agent: String
    var timeoutSeconds: Double
  }

  /// What came of one attempt.
  enum Answer: Equatable {
    case status(Int)
    /// There was none, and why.
    case none(String)
  }

  /// Sends the request once and waits for the answer.
  func send(_ request: Request) -> Answer {
    var status = 0
    var message = [CChar](repeating: 0, count: Int(CCURL_MESSAGE_BYTES))
    let body = request.body.map { CChar(bitPattern: $0) } + [0]
    let code = curl_post(
      functions, request.url, body, request.body.count, request.headers.map { $0 + "\n" }.joined(), request.agent,
      Int(request.timeoutSeconds * 1000), &status, &message)
    if code == 0 { return .status(status) }
    return .none(String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }
}
