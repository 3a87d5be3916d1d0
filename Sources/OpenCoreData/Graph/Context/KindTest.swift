/// A question about the class and the entity of objects, asked once for consecutive objects of one kind.
struct KindTest {
  private let test: (NSManagedObject) -> Bool
  private var last: (type: NSManagedObject.Type, entity: NSEntityDescription, answer: Bool)?

  init(_ test: @escaping (NSManagedObject) -> Bool) { self.test = test }

  mutating func holds(_ object: NSManagedObject) -> Bool {
    if let last, last.type == type(of: object), last.entity === object.entity { return last.answer }
    let answer = test(object)
    last = (type(of: object), object.entity, answer)
    return answer
  }
}
