import Foundation

// The names that Apple's framework gave these errors first. It keeps them as deprecated ones.

extension CocoaError.Code {
  /// The former name of `coreData`.
  @available(*, deprecated, renamed: "coreData")
  public static var coreDataError: Self { .coreData }
  /// The former name of `entityMigrationPolicy`.
  @available(*, deprecated, renamed: "entityMigrationPolicy")
  public static var entityMigrationPolicyError: Self { .entityMigrationPolicy }
  /// The former name of `externalRecordImport`.
  @available(*, deprecated, renamed: "externalRecordImport")
  public static var externalRecordImportError: Self { .externalRecordImport }
  /// The former name of `inferredMappingModel`.
  @available(*, deprecated, renamed: "inferredMappingModel")
  public static var inferredMappingModelError: Self { .inferredMappingModel }
  /// The former name of `managedObjectConstraintMerge`.
  @available(*, deprecated, renamed: "managedObjectConstraintMerge")
  public static var managedObjectConstraintMergeError: Self { .managedObjectConstraintMerge }
  /// The former name of `managedObjectContextLocking`.
  @available(*, deprecated, renamed: "managedObjectContextLocking")
  public static var managedObjectContextLockingError: Self { .managedObjectContextLocking }
  /// The former name of `managedObjectExternalRelationship`.
  @available(*, deprecated, renamed: "managedObjectExternalRelationship")
  public static var managedObjectExternalRelationshipError: Self { .managedObjectExternalRelationship }
  /// The former name of `managedObjectMerge`.
  @available(*, deprecated, renamed: "managedObjectMerge")
  public static var managedObjectMergeError: Self { .managedObjectMerge }
  /// The former name of `managedObjectReferentialIntegrity`.
  @available(*, deprecated, renamed: "managedObjectReferentialIntegrity")
  public static var managedObjectReferentialIntegrityError: Self { .managedObjectReferentialIntegrity }
  /// The former name of `managedObjectValidation`.
  @available(*, deprecated, renamed: "managedObjectValidation")
  public static var managedObjectValidationError: Self { .managedObjectValidation }
  /// The former name of `migrationCancelled`.
  @available(*, deprecated, renamed: "migrationCancelled")
  public static var migrationCancelledError: Self { .migrationCancelled }
  /// The former name of `migration`.
  @available(*, deprecated, renamed: "migration")
  public static var migrationError: Self { .migration }
  /// The former name of `migrationManagerDestinationStore`.
  @available(*, deprecated, renamed: "migrationManagerDestinationStore")
  public static var migrationManagerDestinationStoreError: Self { .migrationManagerDestinationStore }
  /// The former name of `migrationManagerSourceStore`.
  @available(*, deprecated, renamed: "migrationManagerSourceStore")
  public static var migrationManagerSourceStoreError: Self { .migrationManagerSourceStore }
  /// The former name of `migrationMissingMappingModel`.
  @available(*, deprecated, renamed: "migrationMissingMappingModel")
  public static var migrationMissingMappingModelError: Self { .migrationMissingMappingModel }
  /// The former name of `migrationMissingSourceModel`.
  @available(*, deprecated, renamed: "migrationMissingSourceModel")
  public static var migrationMissingSourceModelError: Self { .migrationMissingSourceModel }
  /// The former name of `persistentStoreCoordinatorLocking`.
  @available(*, deprecated, renamed: "persistentStoreCoordinatorLocking")
  public static var persistentStoreCoordinatorLockingError: Self { .persistentStoreCoordinatorLocking }
  /// The former name of `persistentStoreIncompatibleSchema`.
  @available(*, deprecated, renamed: "persistentStoreIncompatibleSchema")
  public static var persistentStoreIncompatibleSchemaError: Self { .persistentStoreIncompatibleSchema }
  /// The former name of `persistentStoreIncompatibleVersionHash`.
  @available(*, deprecated, renamed: "persistentStoreIncompatibleVersionHash")
  public static var persistentStoreIncompatibleVersionHashError: Self { .persistentStoreIncompatibleVersionHash }
  /// The former name of `persistentStoreIncompleteSave`.
  @available(*, deprecated, renamed: "persistentStoreIncompleteSave")
  public static var persistentStoreIncompleteSaveError: Self { .persistentStoreIncompleteSave }
  /// The former name of `persistentStoreInvalidType`.
  @available(*, deprecated, renamed: "persistentStoreInvalidType")
  public static var persistentStoreInvalidTypeError: Self { .persistentStoreInvalidType }
  /// The former name of `persistentStoreOpen`.
  @available(*, deprecated, renamed: "persistentStoreOpen")
  public static var persistentStoreOpenError: Self { .persistentStoreOpen }
  /// The former name of `persistentStoreOperation`.
  @available(*, deprecated, renamed: "persistentStoreOperation")
  public static var persistentStoreOperationError: Self { .persistentStoreOperation }
  /// The former name of `persistentStoreSaveConflicts`.
  @available(*, deprecated, renamed: "persistentStoreSaveConflicts")
  public static var persistentStoreSaveConflictsError: Self { .persistentStoreSaveConflicts }
  /// The former name of `persistentStoreSave`.
  @available(*, deprecated, renamed: "persistentStoreSave")
  public static var persistentStoreSaveError: Self { .persistentStoreSave }
  /// The former name of `persistentStoreTimeout`.
  @available(*, deprecated, renamed: "persistentStoreTimeout")
  public static var persistentStoreTimeoutError: Self { .persistentStoreTimeout }
  /// The former name of `persistentStoreTypeMismatch`.
  @available(*, deprecated, renamed: "persistentStoreTypeMismatch")
  public static var persistentStoreTypeMismatchError: Self { .persistentStoreTypeMismatch }
  /// The former name of `persistentStoreUnsupportedRequestType`.
  @available(*, deprecated, renamed: "persistentStoreUnsupportedRequestType")
  public static var persistentStoreUnsupportedRequestTypeError: Self { .persistentStoreUnsupportedRequestType }
  /// The former name of `sqlite`.
  @available(*, deprecated, renamed: "sqlite")
  public static var sqliteError: Self { .sqlite }
  /// The former name of `validationDateTooLate`.
  @available(*, deprecated, renamed: "validationDateTooLate")
  public static var validationDateTooLateError: Self { .validationDateTooLate }
  /// The former name of `validationDateTooSoon`.
  @available(*, deprecated, renamed: "validationDateTooSoon")
  public static var validationDateTooSoonError: Self { .validationDateTooSoon }
  /// The former name of `validationInvalidDate`.
  @available(*, deprecated, renamed: "validationInvalidDate")
  public static var validationInvalidDateError: Self { .validationInvalidDate }
  /// The former name of `validationMissingMandatoryProperty`.
  @available(*, deprecated, renamed: "validationMissingMandatoryProperty")
  public static var validationMissingMandatoryPropertyError: Self { .validationMissingMandatoryProperty }
  /// The former name of `validationMultipleErrors`.
  @available(*, deprecated, renamed: "validationMultipleErrors")
  public static var validationMultipleErrorsError: Self { .validationMultipleErrors }
  /// The former name of `validationNumberTooLarge`.
  @available(*, deprecated, renamed: "validationNumberTooLarge")
  public static var validationNumberTooLargeError: Self { .validationNumberTooLarge }
  /// The former name of `validationNumberTooSmall`.
  @available(*, deprecated, renamed: "validationNumberTooSmall")
  public static var validationNumberTooSmallError: Self { .validationNumberTooSmall }
  /// The former name of `validationRelationshipDeniedDelete`.
  @available(*, deprecated, renamed: "validationRelationshipDeniedDelete")
  public static var validationRelationshipDeniedDeleteError: Self { .validationRelationshipDeniedDelete }
  /// The former name of `validationRelationshipExceedsMaximumCount`.
  @available(*, deprecated, renamed: "validationRelationshipExceedsMaximumCount")
  public static var validationRelationshipExceedsMaximumCountError: Self { .validationRelationshipExceedsMaximumCount }
  /// The former name of `validationRelationshipLacksMinimumCount`.
  @available(*, deprecated, renamed: "validationRelationshipLacksMinimumCount")
  public static var validationRelationshipLacksMinimumCountError: Self { .validationRelationshipLacksMinimumCount }
  /// The former name of `validationStringPatternMatching`.
  @available(*, deprecated, renamed: "validationStringPatternMatching")
  public static var validationStringPatternMatchingError: Self { .validationStringPatternMatching }
  /// The former name of `validationStringTooLong`.
  @available(*, deprecated, renamed: "validationStringTooLong")
  public static var validationStringTooLongError: Self { .validationStringTooLong }
  /// The former name of `validationStringTooShort`.
  @available(*, deprecated, renamed: "validationStringTooShort")
  public static var validationStringTooShortError: Self { .validationStringTooShort }
}

extension CocoaError {
  /// The former name of `coreData`.
  @available(*, deprecated, renamed: "coreData")
  public static var coreDataError: Code { .coreData }
  /// The former name of `entityMigrationPolicy`.
  @available(*, deprecated, renamed: "entityMigrationPolicy")
  public static var entityMigrationPolicyError: Code { .entityMigrationPolicy }
  /// The former name of `externalRecordImport`.
  @available(*, deprecated, renamed: "externalRecordImport")
  public static var externalRecordImportError: Code { .externalRecordImport }
  /// The former name of `inferredMappingModel`.
  @available(*, deprecated, renamed: "inferredMappingModel")
  public static var inferredMappingModelError: Code { .inferredMappingModel }
  /// The former name of `managedObjectConstraintMerge`.
  @available(*, deprecated, renamed: "managedObjectConstraintMerge")
  public static var managedObjectConstraintMergeError: Code { .managedObjectConstraintMerge }
  /// The former name of `managedObjectContextLocking`.
  @available(*, deprecated, renamed: "managedObjectContextLocking")
  public static var managedObjectContextLockingError: Code { .managedObjectContextLocking }
  /// The former name of `managedObjectExternalRelationship`.
  @available(*, deprecated, renamed: "managedObjectExternalRelationship")
  public static var managedObjectExternalRelationshipError: Code { .managedObjectExternalRelationship }
  /// The former name of `managedObjectMerge`.
  @available(*, deprecated, renamed: "managedObjectMerge")
  public static var managedObjectMergeError: Code { .managedObjectMerge }
  /// The former name of `managedObjectReferentialIntegrity`.
  @available(*, deprecated, renamed: "managedObjectReferentialIntegrity")
  public static var managedObjectReferentialIntegrityError: Code { .managedObjectReferentialIntegrity }
  /// The former name of `managedObjectValidation`.
  @available(*, deprecated, renamed: "managedObjectValidation")
  public static var managedObjectValidationError: Code { .managedObjectValidation }
  /// The former name of `migrationCancelled`.
  @available(*, deprecated, renamed: "migrationCancelled")
  public static var migrationCancelledError: Code { .migrationCancelled }
  /// The former name of `migration`.
  @available(*, deprecated, renamed: "migration")
  public static var migrationError: Code { .migration }
  /// The former name of `migrationManagerDestinationStore`.
  @available(*, deprecated, renamed: "migrationManagerDestinationStore")
  public static var migrationManagerDestinationStoreError: Code { .migrationManagerDestinationStore }
  /// The former name of `migrationManagerSourceStore`.
  @available(*, deprecated, renamed: "migrationManagerSourceStore")
  public static var migrationManagerSourceStoreError: Code { .migrationManagerSourceStore }
  /// The former name of `migrationMissingMappingModel`.
  @available(*, deprecated, renamed: "migrationMissingMappingModel")
  public static var migrationMissingMappingModelError: Code { .migrationMissingMappingModel }
  /// The former name of `migrationMissingSourceModel`.
  @available(*, deprecated, renamed: "migrationMissingSourceModel")
  public static var migrationMissingSourceModelError: Code { .migrationMissingSourceModel }
  /// The former name of `persistentStoreCoordinatorLocking`.
  @available(*, deprecated, renamed: "persistentStoreCoordinatorLocking")
  public static var persistentStoreCoordinatorLockingError: Code { .persistentStoreCoordinatorLocking }
  /// The former name of `persistentStoreIncompatibleSchema`.
  @available(*, deprecated, renamed: "persistentStoreIncompatibleSchema")
  public static var persistentStoreIncompatibleSchemaError: Code { .persistentStoreIncompatibleSchema }
  /// The former name of `persistentStoreIncompatibleVersionHash`.
  @available(*, deprecated, renamed: "persistentStoreIncompatibleVersionHash")
  public static var persistentStoreIncompatibleVersionHashError: Code { .persistentStoreIncompatibleVersionHash }
  /// The former name of `persistentStoreIncompleteSave`.
  @available(*, deprecated, renamed: "persistentStoreIncompleteSave")
  public static var persistentStoreIncompleteSaveError: Code { .persistentStoreIncompleteSave }
  /// The former name of `persistentStoreInvalidType`.
  @available(*, deprecated, renamed: "persistentStoreInvalidType")
  public static var persistentStoreInvalidTypeError: Code { .persistentStoreInvalidType }
  /// The former name of `persistentStoreOpen`.
  @available(*, deprecated, renamed: "persistentStoreOpen")
  public static var persistentStoreOpenError: Code { .persistentStoreOpen }
  /// The former name of `persistentStoreOperation`.
  @available(*, deprecated, renamed: "persistentStoreOperation")
  public static var persistentStoreOperationError: Code { .persistentStoreOperation }
  /// The former name of `persistentStoreSaveConflicts`.
  @available(*, deprecated, renamed: "persistentStoreSaveConflicts")
  public static var persistentStoreSaveConflictsError: Code { .persistentStoreSaveConflicts }
  /// The former name of `persistentStoreSave`.
  @available(*, deprecated, renamed: "persistentStoreSave")
  public static var persistentStoreSaveError: Code { .persistentStoreSave }
  /// The former name of `persistentStoreTimeout`.
  @available(*, deprecated, renamed: "persistentStoreTimeout")
  public static var persistentStoreTimeoutError: Code { .persistentStoreTimeout }
  /// The former name of `persistentStoreTypeMismatch`.
  @available(*, deprecated, renamed: "persistentStoreTypeMismatch")
  public static var persistentStoreTypeMismatchError: Code { .persistentStoreTypeMismatch }
  /// The former name of `persistentStoreUnsupportedRequestType`.
  @available(*, deprecated, renamed: "persistentStoreUnsupportedRequestType")
  public static var persistentStoreUnsupportedRequestTypeError: Code { .persistentStoreUnsupportedRequestType }
  /// The former name of `sqlite`.
  @available(*, deprecated, renamed: "sqlite")
  public static var sqliteError: Code { .sqlite }
  /// The former name of `validationDateTooLate`.
  @available(*, deprecated, renamed: "validationDateTooLate")
  public static var validationDateTooLateError: Code { .validationDateTooLate }
  /// The former name of `validationDateTooSoon`.
  @available(*, deprecated, renamed: "validationDateTooSoon")
  public static var validationDateTooSoonError: Code { .validationDateTooSoon }
  /// The former name of `validationInvalidDate`.
  @available(*, deprecated, renamed: "validationInvalidDate")
  public static var validationInvalidDateError: Code { .validationInvalidDate }
  /// The former name of `validationMissingMandatoryProperty`.
  @available(*, deprecated, renamed: "validationMissingMandatoryProperty")
  public static var validationMissingMandatoryPropertyError: Code { .validationMissingMandatoryProperty }
  /// The former name of `validationMultipleErrors`.
  @available(*, deprecated, renamed: "validationMultipleErrors")
  public static var validationMultipleErrorsError: Code { .validationMultipleErrors }
  /// The former name of `validationNumberTooLarge`.
  @available(*, deprecated, renamed: "validationNumberTooLarge")
  public static var validationNumberTooLargeError: Code { .validationNumberTooLarge }
  /// The former name of `validationNumberTooSmall`.
  @available(*, deprecated, renamed: "validationNumberTooSmall")
  public static var validationNumberTooSmallError: Code { .validationNumberTooSmall }
  /// The former name of `validationRelationshipDeniedDelete`.
  @available(*, deprecated, renamed: "validationRelationshipDeniedDelete")
  public static var validationRelationshipDeniedDeleteError: Code { .validationRelationshipDeniedDelete }
  /// The former name of `validationRelationshipExceedsMaximumCount`.
  @available(*, deprecated, renamed: "validationRelationshipExceedsMaximumCount")
  public static var validationRelationshipExceedsMaximumCountError: Code { .validationRelationshipExceedsMaximumCount }
  /// The former name of `validationRelationshipLacksMinimumCount`.
  @available(*, deprecated, renamed: "validationRelationshipLacksMinimumCount")
  public static var validationRelationshipLacksMinimumCountError: Code { .validationRelationshipLacksMinimumCount }
  /// The former name of `validationStringPatternMatching`.
  @available(*, deprecated, renamed: "validationStringPatternMatching")
  public static var validationStringPatternMatchingError: Code { .validationStringPatternMatching }
  /// The former name of `validationStringTooLong`.
  @available(*, deprecated, renamed: "validationStringTooLong")
  public static var validationStringTooLongError: Code { .validationStringTooLong }
  /// The former name of `validationStringTooShort`.
  @available(*, deprecated, renamed: "validationStringTooShort")
  public static var validationStringTooShortError: Code { .validationStringTooShort }
}
