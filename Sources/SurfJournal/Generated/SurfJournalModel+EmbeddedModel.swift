// Generated from the model SurfJournalModel by modelgen; changes made here are lost.
// swift-format-ignore-file

import OpenCoreData

/// Makes SurfJournalModel known to OpenCoreData. It is called by itself, except where OpenCoreData comes from
/// another dynamic library than this module: call it there once.
nonisolated public func registerSurfJournalModel() {
  EmbeddedModels.register(embeddedModel)
}

nonisolated private let embeddedModel = EmbeddedModel(
  name: "SurfJournalModel",
  moduleName: "SurfJournal",
  currentVersionName: "SurfJournalModel",
  versions: [
    EmbeddedModel.Version(
      name: "SurfJournalModel",
      xml: #"""
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22758" minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
    <entity name="JournalEntry" representedClassName=".JournalEntry" syncable="YES" codeGenerationType="class">
        <attribute name="date" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="height" optional="YES" attributeType="String"/>
        <attribute name="location" optional="YES" attributeType="String"/>
        <attribute name="period" optional="YES" attributeType="String"/>
        <attribute name="rating" optional="YES" attributeType="Integer 16" defaultValueString="0" usesScalarValueType="NO"/>
        <attribute name="wind" optional="YES" attributeType="String"/>
    </entity>
</model>

"""#),
  ],
  classes: [
    "JournalEntry": JournalEntry.self,
  ])

@section("ocd_models")
@used
nonisolated private let registration: @convention(c) () -> Void = { registerSurfJournalModel() }
