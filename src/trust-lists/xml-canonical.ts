// Exclusive XML Canonicalization 1.0 without comments and without an InclusiveNamespaces list, of an element of xml.ts. Every
// name has its namespace already, so a declaration is written where a prefix is used and the nearest written one differs (§ 3).
import type { XmlAttribute, XmlElement } from './xml.ts'

/** The element with everything in it, but for `without`: the enveloped signature. */
export function canonicalXml(element: XmlElement, without?: XmlElement): string {
  const parts: string[] = []
  write(parts, { element, without, written: new Map() })
  return parts.join('')
}

/** `written`: the namespaces by prefix that are declared around it in the output. */
type Place = { element: XmlElement; without: XmlElement | undefined; written: ReadonlyMap<string, string> }

/** Recursion is as deep as the reader lets elements nest. */
function write(parts: string[], { element, without, written }: Place): void {
  const name = qualified(element)
  const declared = declarationsFor(element, written)
  const inner = declared.length > 0 ? new Map([...written, ...declared]) : written
  parts.push('<', name)
  for (const [prefix, namespace] of declared) parts.push(prefix ? ` xmlns:${prefix}="` : ' xmlns="', namespace, '"')
  for (const attribute of element.attributes.toSorted(byName)) {
    parts.push(' ', qualified(attribute), '="', escapedValue(attribute.value), '"')
  }
  parts.push('>')
  for (const child of element.children) {
    if (typeof child === 'string') parts.push(escapedText(child))
    else if (child !== without) write(parts, { element: child, without, written: inner })
  }
  parts.push('</', name, '>')
}

/** Declarations in the order of prefixes; the default namespace comes first. */
function declarationsFor(element: XmlElement, written: ReadonlyMap<string, string>): [string, string][] {
  const used = new Map([[element.prefix, element.namespace]])
  for (const { prefix, namespace } of element.attributes) if (prefix) used.set(prefix, namespace)
  // Without a declaration around it, the default namespace is none already.
  return [...used].filter(([prefix, namespace]) => prefix !== 'xml' && (written.get(prefix) ?? '') !== namespace).sort(byPrefix)
}

const qualified = ({ prefix, local }: XmlElement | XmlAttribute): string => (prefix ? `${prefix}:${local}` : local)

const byPrefix = ([a]: [string, string], [b]: [string, string]): number => (a < b ? -1 : 1)

/** Ordered by namespace, then by local name; attributes in no namespace first. */
const byName = (a: XmlAttribute, b: XmlAttribute): number =>
  a.namespace === b.namespace ? (a.local < b.local ? -1 : 1) : a.namespace < b.namespace ? -1 : 1

const escapedText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#xD;')

const escapedValue = (value: string): string =>
  value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\t', '&#x9;')
    .replaceAll('\n', '&#xA;')
    .replaceAll('\r', '&#xD;')
