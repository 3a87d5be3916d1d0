/// Visits all states that can be reached from `start`, each once.
///
/// - Parameter next: Looks at a state, and returns those that can follow it.
/// - Returns: The number of states.
func visitStates<State: Hashable>(from start: State, _ next: (State) -> [State]) -> Int {
  var (known, waiting): (Set<State>, [State]) = ([start], [start])
  while let state = waiting.popLast() {
    for follower in next(state) where known.insert(follower).inserted { waiting.append(follower) }
  }
  return known.count
}
