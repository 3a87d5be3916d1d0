// The versions of Apple's framework.

/// The version of the framework.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber = 0.0
/// The version of the framework in Mac OS X 10.4.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_4 = 0.0
/// The version of the framework in Mac OS X 10.4.3.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_4_3 = 0.0
/// The version of the framework in Mac OS X 10.5.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_5 = 0.0
/// The version of the framework in Mac OS X 10.5.3.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_5_3 = 0.0
/// The version of the framework in Mac OS X 10.6.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_6 = 0.0
/// The version of the framework in Mac OS X 10.6.2.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_6_2 = 0.0
/// The version of the framework in Mac OS X 10.6.3.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_6_3 = 0.0
/// The version of the framework in Mac OS X 10.7.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_7 = 0.0
/// The version of the framework in Mac OS X 10.7.2.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_7_2 = 0.0
/// The version of the framework in Mac OS X 10.7.3.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_7_3 = 0.0
/// The version of the framework in Mac OS X 10.7.4.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_7_4 = 0.0
/// The version of the framework in Mac OS X 10.8.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_8 = 0.0
/// The version of the framework in Mac OS X 10.8.2.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_8_2 = 0.0
/// The version of the framework in Mac OS X 10.9.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_9 = 0.0
/// The version of the framework in Mac OS X 10.9.2.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_9_2 = 0.0
/// The version of the framework in Mac OS X 10.9.3.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_9_3 = 0.0
/// The version of the framework in Mac OS X 10.10.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_10 = 0.0
/// The version of the framework in Mac OS X 10.10.2.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_10_2 = 0.0
/// The version of the framework in Mac OS X 10.10.3.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_10_3 = 0.0
/// The version of the framework in Mac OS X 10.11.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_11 = 0.0
/// The version of the framework in Mac OS X 10.11.3.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber10_11_3 = 0.0
/// The version of the framework in iPhone OS 3.0.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_3_0 = 0.0
/// The version of the framework in iPhone OS 3.1.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_3_1 = 0.0
/// The version of the framework in iPhone OS 3.2.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_3_2 = 0.0
/// The version of the framework in iPhone OS 4.0.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_4_0 = 0.0
/// The version of the framework in iPhone OS 4.1.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_4_1 = 0.0
/// The version of the framework in iPhone OS 4.2.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_4_2 = 0.0
/// The version of the framework in iPhone OS 4.3.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_4_3 = 0.0
/// The version of the framework in iPhone OS 5.0.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_5_0 = 0.0
/// The version of the framework in iPhone OS 5.1.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_5_1 = 0.0
/// The version of the framework in iPhone OS 6.0.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_6_0 = 0.0
/// The version of the framework in iPhone OS 6.1.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_6_1 = 0.0
/// The version of the framework in iPhone OS 7.0.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_7_0 = 0.0
/// The version of the framework in iPhone OS 7.1.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_7_1 = 0.0
/// The version of the framework in iPhone OS 8.0.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_8_0 = 0.0
/// The version of the framework in iPhone OS 8.3.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_8_3 = 0.0
/// The version of the framework in iPhone OS 9.0.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_9_0 = 0.0
/// The version of the framework in iPhone OS 9.2.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_9_2 = 0.0
/// The version of the framework in iPhone OS 9.3.
@available(*, unavailable, message: "Apple's framework is not here. Write #if canImport(CoreData).")
public let NSCoreDataVersionNumber_iPhoneOS_9_3 = 0.0
