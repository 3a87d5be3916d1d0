/// Who is notified of a pipeline's runs, and after which of them.
///
/// ```swift
/// var notify = NotifyDefinition()
/// notify.ping = .init(.file("secrets/ping"))
/// notify.mails = [.init(to: ["surfer@example.org"], on: [.failure, .recovery])]
/// ```
public struct NotifyDefinition: Sendable, Hashable, Codable {
  /// What a run can be notified for.
  public enum Event: String, Sendable, Codable, CaseIterable {
    /// The run ended with another exit status than 0.
    case failure
    /// The run is the first one without an error after one with errors, and had something to do.
    case recovery
    /// The data differ from what they were or are expected to be: a header has changed, or an expectation is not met.
    case drift
    /// The run ended with the exit status 0.
    case success
    /// Any of these.
    case always
  }

  /// The form in which a command gets the summary.
  public enum SummaryForm: String, Sendable, Codable, CaseIterable {
    /// As on a terminal.
    case text
    /// As a report that ends in `.json`.
    case json
  }

  /// A name with a text: a header of a request, or a variable of a command's environment.
  public struct NamedSecret: Sendable, Hashable, Codable {
    /// The name, which is not secret.
    public var name: String
    /// The text.
    public var value: SecretText

    /// Gives a text a name.
    public init(_ name: String, _ value: SecretText) {
      self.name = name
      self.value = value
    }
  }

  /// A program that is started, without a shell.
  public struct Command: Sendable, Hashable, Codable {
    /// The program and its arguments. A program with a slash is a path, which starts at the definition's folder; another
    /// one is looked up in `PATH`. Every user of the machine can see them.
    public var run: [String]
    /// When it is started; nil for what the whole of `notify` says.
    public var on: [Event]?
    /// The form of the summary on its standard input.
    public var summary: SummaryForm
    /// Variables in addition to those of the environment and the facts of the run.
    public var environment: [NamedSecret]
    /// Seconds after which it is ended.
    public var timeoutSeconds: Double

    /// Makes a command. The parameters are the properties of the same names.
    public init(
      run: [String], on: [Event]? = nil, summary: SummaryForm = .text, environment: [NamedSecret] = [],
      timeoutSeconds: Double = 60
    ) {
      self.run = run
      self.on = on
      self.summary = summary
      self.environment = environment
      self.timeoutSeconds = timeoutSeconds
    }
  }

  /// How often and how long a request is tried.
  public struct Attempts: Sendable, Hashable {
    /// How often a request is repeated that got no answer, or one that asks to come back: 408, 425, 429 and those from 500
    /// on.
    public var retries: Int
    /// Seconds before the first repetition; each further one waits twice as long, up to a minute.
    public var retrySeconds: Double
    /// Seconds that one attempt may take.
    public var timeoutSeconds: Double

    /// Makes a number of attempts. The parameters are the properties of the same names.
    public init(retries: Int = 3, retrySeconds: Double = 1, timeoutSeconds: Double = 10) {
      self.retries = retries
      self.retrySeconds = retrySeconds
      self.timeoutSeconds = timeoutSeconds
    }
  }

  /// An address that gets a JSON object by POST.
  public struct Webhook: Sendable, Hashable {
    /// An address that begins with `https://` or `http://`.
    public var url: SecretText
    /// Headers in addition to those of every request.
    public var headers: [NamedSecret]
    /// When it is called; nil for what the whole of `notify` says.
    public var on: [Event]?
    /// How often and how long it is tried.
    public var attempts: Attempts

    /// Makes a webhook. The parameters are the properties of the same names.
    public init(
      _ url: SecretText, headers: [NamedSecret] = [], on: [Event]? = nil, attempts: Attempts = Attempts()
    ) {
      self.url = url
      self.headers = headers
      self.on = on
      self.attempts = attempts
    }
  }

  /// The address of a check, as healthchecks.io and its likes have it: each run calls `ADDRESS/start` when it begins, and
  /// `ADDRESS` or `ADDRESS/fail` when it ends.
  public struct Ping: Sendable, Hashable {
    /// The address without `/start` and `/fail`.
    public var url: SecretText
    /// How often and how long it is tried.
    public var attempts: Attempts

    /// Makes a ping. The parameters are the properties of the same names.
    public init(_ url: SecretText, attempts: Attempts = Attempts()) {
      self.url = url
      self.attempts = attempts
    }
  }

  /// A mail that the system's sendmail program sends.
  public struct Mail: Sendable, Hashable, Codable {
    /// The addresses that get it.
    public var to: [String]
    /// The sender; nil for the user that runs the program.
    public var from: String?
    /// When it is sent; nil for what the whole of `notify` says.
    public var on: [Event]?
    /// The program, with the arguments that let it take the recipients from the message.
    public var sendmail: [String]
    /// Seconds after which the program is ended.
    public var timeoutSeconds: Double

    /// The program that systems with mail have, and its arguments.
    public static let sendmailDefault = ["/usr/sbin/sendmail", "-i", "-t"]

    /// Makes a mail. The parameters are the properties of the same names.
    public init(
      to: [String], from: String? = nil, on: [Event]? = nil, sendmail: [String] = sendmailDefault,
      timeoutSeconds: Double = 60
    ) {
      self.to = to
      self.from = from
      self.on = on
      self.sendmail = sendmail
      self.timeoutSeconds = timeoutSeconds
    }
  }

  /// When something is notified that does not say so itself.
  public var on: [Event] = eventsDefault
  /// Programs that are started.
  public var commands: [Command] = []
  /// Addresses that get a JSON object.
  public var webhooks: [Webhook] = []
  /// Mails that are sent.
  public var mails: [Mail] = []
  /// An address that is called when a run begins and when it ends.
  public var ping: Ping?

  /// What is notified by default: all but successes.
  public static let eventsDefault: [Event] = [.failure, .recovery, .drift]

  /// Notifies nothing.
  public init() {}
}
