import Foundation

/// Fetch requests that a model stores by name. (Apple documentation: NSManagedObjectModel.)
extension NSManagedObjectModel {
  /// A copy of the template of that name with its variables; nil if there is none. If the model's text of its predicate
  /// is invalid, a fetch fails with the reason.
  public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
    request(named: name)
  }

  /// As `fetchRequestTemplate(forName:)`, for a result type of the client's choice, because a generic class cannot be
  /// cast.
  public func fetchRequestTemplate<ResultType>(forName name: String) -> NSFetchRequest<ResultType>? {
    request(named: name)?.retyped(as: ResultType.self)
  }

  /// A copy of the template of that name with values for the variables (`$NAME`) of its predicate; nil if there is no
  /// such template. A fetch fails if a variable has no value.
  public func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    guard let request = request(named: name) else { return nil }
    request.predicate = request.predicate?.withSubstitutionVariables(variables)
    return request
  }

  /// As `fetchRequestFromTemplate(withName:substitutionVariables:)`, for a result type of the client's choice.
  public func fetchRequestFromTemplate<ResultType>(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<ResultType>? {
    let request: NSFetchRequest<any NSFetchRequestResult>? = fetchRequestFromTemplate(
      withName: name, substitutionVariables: variables)
    return request?.retyped(as: ResultType.self)
  }

  /// Stores a copy of `fetchRequestTemplate` under `name`; nil removes the template. A frozen model cannot be changed.
  public func setFetchRequestTemplate<ResultType>(
    _ fetchRequestTemplate: NSFetchRequest<ResultType>?, forName name: String
  ) {
    fetchRequestTemplates[name] = nil
    fetchRequestsSet[name] = fetchRequestTemplate?.retyped(as: (any NSFetchRequestResult).self)
  }

  /// Copies of all templates.
  public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
    let names = Set(fetchRequestTemplates.keys).union(fetchRequestsSet.keys)
    return Dictionary(uniqueKeysWithValues: names.compactMap { name in request(named: name).map { (name, $0) } })
  }

  private func request(named name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
    if let set = fetchRequestsSet[name] as? NSFetchRequest<any NSFetchRequestResult> {
      return set.retyped(as: (any NSFetchRequestResult).self)
    }
    return fetchRequestTemplates[name].map(request)
  }

  func request(_ template: FetchRequestTemplate) -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: template.entityName)
    request.entity = entitiesByName[template.entityName]
    request.fetchLimit = template.fetchLimit
    request.fetchBatchSize = template.fetchBatchSize
    request.includesSubentities = template.includesSubentities
    request.includesPropertyValues = template.includesPropertyValues
    request.returnsObjectsAsFaults = template.returnsObjectsAsFaults
    request.returnsDistinctResults = template.returnsDistinctResults
    request.predicate = template.predicateFormat.map { NSPredicate.ofModel(format: $0, request: template.name) }
    return request
  }
}

extension NSFetchRequest: ModelFetchRequest {
  package func copy(for model: NSManagedObjectModel) -> any ModelFetchRequest {
    let request = retyped(as: (any NSFetchRequestResult).self)
    request.entity = entityName.flatMap { model.entitiesByName[$0] }
    return request
  }

  package func describesTheSame(as other: any ModelFetchRequest) -> Bool {
    guard let other = other as? NSFetchRequest<any NSFetchRequestResult> else { return false }
    func order(_ descriptors: [NSSortDescriptor]?) -> [String] {
      (descriptors ?? []).map { "\($0.ascending) \($0.key ?? "")" }
    }
    return entityName == other.entityName && resultType == other.resultType
      && returnsDistinctResults == other.returnsDistinctResults
      && predicate?.formatDescription == other.predicate?.formatDescription
      && order(sortDescriptors) == order(other.sortDescriptors) && fetchLimit == other.fetchLimit
      && fetchOffset == other.fetchOffset && includesSubentities == other.includesSubentities
      && includesPendingChanges == other.includesPendingChanges
  }
}
