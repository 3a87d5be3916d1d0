import Foundation
import TestSupport

/// A server that writes down what it is asked and answers what the test says.
final class WebServer {
  /// One request.
  struct Request: Decodable {
    let method: String
    let path: String
    let headers: [String: String]
    let body: String

    /// The body as the object that a webhook gets.
    var object: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
    }
  }

  let address: String
  private let program: RunningProgram
  private let folder: TemporaryFolder
  private let name: String

  /// - Parameter answers: The status of each answer in turn, the last one for all others; `0` closes the connection
  ///   without an answer, and `-1` keeps it open.
  init(in folder: TemporaryFolder, answers: [Int] = [200]) throws {
    name = "requests-\(UUID().uuidString)"
    self.folder = folder
    program = try RunningProgram(
      """
      import http.server, json, sys, threading, time
      answers = [int(text) for text in sys.argv[2].split(",")]
      lock = threading.Lock()
      class Handler(http.server.BaseHTTPRequestHandler):
          def do(self):
              body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
              with lock:
                  answer = answers.pop(0) if len(answers) > 1 else answers[0]
                  with open(sys.argv[1], "a") as log:
                      log.write(json.dumps({"method": self.command, "path": self.path, "body": body,
                          "headers": {name.lower(): value for name, value in self.headers.items()}}) + "\\n")
              if answer == -1: time.sleep(30)
              if answer <= 0: return
              self.send_response(answer)
              if 300 <= answer < 400: self.send_header("Location", "/elsewhere")
              self.send_header("Content-Length", "2")
              self.end_headers()
              self.wfile.write(b"ok")
          do_GET = do_POST = do_HEAD = do
          def log_message(self, *arguments): pass
      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
      server.daemon_threads = True
      print(server.server_address[1], flush=True)
      server.serve_forever()
      """, folder.path(name), answers.map(String.init).joined(separator: ","))
    address = "http://127.0.0.1:\(program.greeting.trimmingCharacters(in: .whitespacesAndNewlines))"
  }

  /// The requests so far, in order.
  var requests: [Request] {
    get throws {
      guard folder.exists(name) else { return [] }
      return try folder.text(name).split(separator: "\n").map {
        try JSONDecoder().decode(Request.self, from: Data($0.utf8))
      }
    }
  }

  func stop() { program.stop() }
}
