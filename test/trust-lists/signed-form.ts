import { childrenNamed, elementsOf, readXml } from '../../src/trust-lists/xml.ts'
import { canonicalXml } from '../../src/trust-lists/xml-canonical.ts'

const DS = 'http://www.w3.org/2000/09/xmldsig#'

/** Everything of a list that its signature covers, as it is signed. Only for lists whose signature holds. */
export function signedForm(bytes: Uint8Array): string {
  const root = readXml(bytes)
  const [signature] = childrenNamed(root, DS, 'Signature')
  const [signedInfo, , , object] = elementsOf(signature!.children)
  const [qualifying] = elementsOf(object!.children)
  const [properties] = elementsOf(qualifying!.children)
  return [canonicalXml(root, signature), canonicalXml(signedInfo!), canonicalXml(properties!)].join('\n')
}
