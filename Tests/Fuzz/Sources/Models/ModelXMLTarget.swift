import Foundation
import ManagedObjectModel

/// Any XML gives a model with hashes, or an error that says where and what.
enum ModelXMLTarget: FuzzTarget {
  static let name = "model-xml"
  static let bytesMax = 2048
  static let words = [
    "<entity ", "<attribute ", "<relationship ", "<fetchedProperty ", "<fetchIndex ", "<fetchIndexElement ",
    "<uniquenessConstraint>", "<constraint value=", "<configuration ", "<memberEntity ", "<userInfo>", "<entry key=",
    "<fetchRequest ", "<compositeAttribute ", "attributeType=\"Integer 16\"", "attributeType=\"Transformable\"",
    "attributeType=\"Composite\"", "parentEntity=", "destinationEntity=", "inverseEntity=", "inverseName=",
    "predicateString=", "defaultValueString=", "minValueString=", "maxValueString=", "regularExpressionString=",
    "toMany=\"YES\"", "ordered=\"YES\"", "derived=\"YES\" derivationExpression=", "maxCount=", "optional=\"YES\"",
    "versionHashModifier=", "elementID=", "isAbstract=\"YES\"", "&#10;", "<![CDATA[",
    "<!DOCTYPE a [<!ENTITY b \"c\">]>",
  ]
  static let seeds: [[UInt8]] = [
    """
    <?xml version="1.0"?><model userDefinedModelVersionIdentifier="1"><entity name="A" isAbstract="YES">
    <attribute name="a" optional="YES" attributeType="Integer 16" defaultValueString="1" minValueString="0"/>
    <attribute name="b" attributeType="String" regularExpressionString="[a-z]+" maxValueString="9"/>
    <relationship name="r" optional="YES" toMany="YES" ordered="YES" destinationEntity="B" inverseName="s" inverseEntity="B"/>
    <uniquenessConstraints><uniquenessConstraint><constraint value="b"/></uniquenessConstraint></uniquenessConstraints>
    </entity><entity name="B" parentEntity="A"><relationship name="s" maxCount="1" destinationEntity="A"
    inverseName="r" inverseEntity="A"/><fetchIndex name="i"><fetchIndexElement property="a" type="Binary"
    order="ascending"/></fetchIndex></entity><configuration name="c"><memberEntity name="A"/></configuration></model>
    """,
    """
    <model><entity name="C"><attribute name="d" attributeType="Date" defaultDateTimeInterval="5"/><attribute name="t"
    attributeType="Transformable" valueTransformerName="X"/><attribute name="u" attributeType="Decimal"
    defaultValueString="1.5"/><attribute name="v" attributeType="Date" derived="YES" derivationExpression="now()"/>
    <fetchedProperty name="f"><fetchRequest name="g" entity="C" predicateString="u &gt; 3"/></fetchedProperty>
    <userInfo><entry key="k" value="v"/></userInfo></entity>
    <fetchRequest name="h" entity="C" predicateString="u == $x AND d != nil" fetchLimit="3"/></model>
    """,
  ].map { Array($0.utf8) }

  static func run(_ input: inout FuzzInput) {
    do {
      let model = try NSManagedObjectModel.load(xml: Data(input.rest))
      ModelUse.use(model)
    } catch {
      if (error as NSError).localizedDescription.isEmpty { broken("an unreadable model has a reason") }
    }
  }
}
