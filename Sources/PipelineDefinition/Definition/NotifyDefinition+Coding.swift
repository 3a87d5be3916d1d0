// A webhook and a ping are objects whose attempts are members of their own.

extension NotifyDefinition {
  fileprivate enum RequestKeys: String, CodingKey {
    case url, headers, on, retries, retrySeconds, timeoutSeconds
  }
}

extension NotifyDefinition.Attempts {
  fileprivate init(from container: KeyedDecodingContainer<NotifyDefinition.RequestKeys>) throws {
    self.init()
    retries = try container.decodeIfPresent(Int.self, forKey: .retries) ?? retries
    retrySeconds = try container.decodeIfPresent(Double.self, forKey: .retrySeconds) ?? retrySeconds
    timeoutSeconds = try container.decodeIfPresent(Double.self, forKey: .timeoutSeconds) ?? timeoutSeconds
  }

  fileprivate func encode(to container: inout KeyedEncodingContainer<NotifyDefinition.RequestKeys>) throws {
    try container.encode(retries, forKey: .retries)
    try container.encode(retrySeconds, forKey: .retrySeconds)
    try container.encode(timeoutSeconds, forKey: .timeoutSeconds)
  }
}

extension NotifyDefinition.Webhook: Codable {
  /// Decodes an object with the keys of a definition's file.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: NotifyDefinition.RequestKeys.self)
    self.init(
      try container.decode(SecretText.self, forKey: .url),
      headers: try container.decodeIfPresent([NotifyDefinition.NamedSecret].self, forKey: .headers) ?? [],
      on: try container.decodeIfPresent([NotifyDefinition.Event].self, forKey: .on),
      attempts: try NotifyDefinition.Attempts(from: container))
  }

  /// Encodes an object with the keys of a definition's file.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: NotifyDefinition.RequestKeys.self)
    try container.encode(url, forKey: .url)
    try container.encode(headers, forKey: .headers)
    try container.encodeIfPresent(on, forKey: .on)
    try attempts.encode(to: &container)
  }
}

extension NotifyDefinition.Ping: Codable {
  /// Decodes an object with the keys of a definition's file.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: NotifyDefinition.RequestKeys.self)
    self.init(
      try container.decode(SecretText.self, forKey: .url), attempts: try NotifyDefinition.Attempts(from: container))
  }

  /// Encodes an object with the keys of a definition's file.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: NotifyDefinition.RequestKeys.self)
    try container.encode(url, forKey: .url)
    try attempts.encode(to: &container)
  }
}
