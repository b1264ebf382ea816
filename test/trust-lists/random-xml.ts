// Random documents, and the canonical forms that libxml2 makes of them: another program must see the same in every text that ours takes.
import { XmlC14NMode, XmlDocument, XmlParseError } from 'libxml2-wasm'
import { Unreadable } from '../../src/trust-lists/refuse.ts'
import { elementsOf, readXml, type XmlElement } from '../../src/trust-lists/xml.ts'
import { canonicalXml } from '../../src/trust-lists/xml-canonical.ts'
import { CHANGE_KINDS, changed } from '../helpers/byte-changes.ts'
import type { Seeded } from '../helpers/seeded.ts'

const DEPTH_MAX = 4
const CHILDREN_MAX = 3
const ATTRIBUTES_MAX = 4
const CHANGES_MAX = 3

const PREFIXES = ['', 'a', 'b', 'Z', 'ä', 'x-1.2']
const NAMESPACES = ['urn:1', 'urn:2', 'urn:1/', 'tag:example.org,2026:a?b=%20#d', 'URN:1']
const LOCALS = ['a', 'b', 'Z', 'é', '_', 'x-1.2', 'Ωmega', '\uF900', 'lang']
const SPACES = [' ', '\n', '\t', '\r\n', '\r', ' \n ']
const PIECES = [
  'a',
  ' ',
  '\n',
  '\r\n',
  '\r',
  '\t',
  '>',
  "'",
  'é',
  '𝄞',
  '\u0085',
  '\u2028',
  '\uFFFD',
  '&amp;',
  '&lt;',
  '&gt;',
  '&quot;',
  '&apos;',
]
const REFERENCES = [
  '&#9;',
  '&#10;',
  '&#xA;',
  '&#13;',
  '&#xD;',
  '&#x20;',
  '&#65;',
  '&#x10FFFF;',
  '&#x1D11E;',
  '&#x0041;',
  '&#x85;',
]
/** Refused by ours on purpose, or not well-formed; libxml2 takes some of it. */
const HOSTILE_TEXT = [
  '<!-- a -->',
  '<![CDATA[a]]>',
  '<?a b?>',
  '<!DOCTYPE a>',
  '&b;',
  '&',
  '<',
  ']]>',
  '\u0001',
  '\uFFFE',
  '&#0;',
  '&#xFFFE;',
  '&#xD800;',
  '&#x110000;',
  '</a>',
]
const HOSTILE_ATTRIBUTES = [
  'xmlns:a="urn:1" xmlns:a="urn:1"',
  'a="" a=""',
  'xmlns:p="urn:1" xmlns:q="urn:1" p:a="" q:a=""',
  'xmlns:p=""',
  'xmlns:p="relative"',
  'xmlns:p="urn:a&amp;b"',
  'xmlns:p="urn:é"',
  'xmlns:xml="urn:1"',
  'xmlns:p="http://www.w3.org/XML/1998/namespace"',
  'xmlns:xmlns="urn:1"',
  'xmlns="http://www.w3.org/2000/xmlns/"',
  'nobody:a=""',
  'xml:id="a"',
  '𐀀=""',
  'a',
  'a=b',
  'a="<"',
]

/** `isPlain`: well-formed and without anything that ours refuses. */
type RandomXml = { text: string; isPlain: boolean }

export function randomXml(random: Seeded): RandomXml {
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)]!
  // One place of a document, at most.
  let hostileIn = random.below(6) === 0 ? random.below(20) : -1
  const isHostileHere = () => hostileIn-- === 0
  let isPlain = true
  const hostile = (from: readonly string[]) => {
    isPlain = false
    return pick(from)
  }

  const text = (max: number) =>
    Array.from({ length: random.below(max) }, () => pick(random.below(4) === 0 ? REFERENCES : PIECES)).join('')

  const attribute = (name: string, value: string) => {
    const quote = pick(['"', "'"])
    const equals = pick(['=', '=', ' = ', '\n='])
    return `${pick(SPACES)}${name}${equals}${quote}${value.replaceAll(quote, quote === '"' ? '&quot;' : '&apos;')}${quote}`
  }

  const element = (depth: number, outer: ReadonlyMap<string, string>): string => {
    const scope = new Map(outer)
    const written: string[] = []
    for (const prefix of new Set(Array.from({ length: random.below(3) }, () => pick(PREFIXES)))) {
      const namespace = prefix === '' && random.below(3) === 0 ? '' : pick(NAMESPACES)
      scope.set(prefix, namespace)
      written.push(attribute(prefix ? `xmlns:${prefix}` : 'xmlns', namespace))
    }
    if (random.below(40) === 0) written.push(attribute('xmlns:xml', 'http://www.w3.org/XML/1998/namespace'))
    const prefixes = ['', ...scope.keys()]
    const names = new Set<string>()
    for (let count = random.below(ATTRIBUTES_MAX + 1); count > 0; count--) {
      const [prefix, local] = [pick(prefixes), pick(LOCALS)]
      const name = `${prefix && scope.get(prefix)} ${local}`
      if (names.has(name)) continue
      names.add(name)
      written.push(attribute(prefix ? `${prefix}:${local}` : local, text(5)))
    }
    if (random.below(8) === 0) written.push(attribute('xml:space', 'preserve'))
    if (isHostileHere()) written.push(` ${hostile(HOSTILE_ATTRIBUTES)}`)
    written.sort(() => random.next() - 0.5)
    const prefix = pick(prefixes)
    const name = `${prefix && `${prefix}:`}${pick(LOCALS)}`
    const inside: string[] = []
    for (let count = depth < DEPTH_MAX ? random.below(CHILDREN_MAX + 1) : 0; count > 0; count--) {
      inside.push(text(4), element(depth + 1, scope))
    }
    inside.push(text(6))
    if (isHostileHere()) inside.push(hostile(HOSTILE_TEXT))
    const space = pick(['', '', ...SPACES])
    const content = inside.join('')
    const start = `<${name}${written.join('')}${space}`
    return content === '' && random.below(2) === 0 ? `${start}/>` : `${start}>${content}</${name}${space}>`
  }

  const around = () => pick(['', '', '\n', '\r\n', ' <!-- a - b -->\n'])
  const declaration = pick(['', '<?xml version="1.0"?>', "<?xml version='1.0' encoding='utf-8' standalone='yes' ?>", '\uFEFF'])
  return { text: `${declaration}${around()}${element(1, new Map())}${around()}`, isPlain }
}

/** A few bytes of it are other ones. */
export function withChanges(bytes: Buffer, random: Seeded): Buffer {
  const changes = Array.from({ length: 1 + random.below(CHANGES_MAX) }, () => ({
    kind: CHANGE_KINDS[random.below(CHANGE_KINDS.length)]!,
    at: random.next(),
    length: 1 + random.below(8),
    value: random.below(256),
  }))
  return changed(bytes, changes)
}

/** What is wrong with our reading of a document; undefined when nothing is. `nth` chooses an element of it. */
export function findDifference({
  bytes,
  nth,
  isPlain,
}: {
  bytes: Uint8Array
  nth: number
  isPlain: boolean
}): string | undefined {
  const ours = ourForms(bytes, nth)
  if (!ours) return isPlain ? 'a plain document is refused' : undefined
  const theirs = theirForms(bytes, nth)
  if (!theirs) return hasOddNamespace(bytes) ? undefined : 'libxml2 refuses it'
  const form = (['whole', 'without', 'part'] as const).find(name => ours[name] !== theirs[name])
  return form && `${form}: ${ours[form]}\nlibxml2: ${theirs[form]}`
}

/** Of the document, of the document without one of its elements, and of that element. */
type CanonicalForms = { whole: string; without: string; part: string }

/** Undefined when the document is refused. */
function ourForms(bytes: Uint8Array, nth: number): CanonicalForms | undefined {
  const root = rootOf(bytes)
  if (!root) return undefined
  const all = allElements(root)
  const chosen = all[nth % all.length] ?? root
  const without = chosen === root ? '' : canonicalXml(root, chosen)
  return { whole: canonicalXml(root), without, part: canonicalXml(chosen) }
}

function theirForms(bytes: Uint8Array, nth: number): CanonicalForms | undefined {
  const mode = XmlC14NMode.XML_C14N_EXCLUSIVE_1_0
  const document = parsed(bytes)
  if (!document) return undefined
  try {
    const all = document.find('//*')
    const chosen = all[nth % all.length] ?? document.root
    return {
      whole: document.canonicalizeToString({ mode }),
      without: document.canonicalizeToString({ mode, isVisible: node => !node.isSameNode(chosen) }),
      part: chosen.canonicalizeToString({ mode }),
    }
  } catch {
    // It makes no canonical form of relative namespaces.
    return undefined
  } finally {
    document.dispose()
  }
}

/** libxml2 takes namespaces apart, down to the port. For us they are names, and only compared. */
function hasOddNamespace(bytes: Uint8Array): boolean {
  try {
    XmlDocument.fromBuffer(bytes).dispose()
    return false
  } catch (error) {
    return error instanceof XmlParseError && error.details.every(({ message }) => message.includes('is not a valid URI'))
  }
}

function rootOf(bytes: Uint8Array): XmlElement | undefined {
  try {
    return readXml(bytes)
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

function allElements(root: XmlElement): XmlElement[] {
  return [root, ...elementsOf(root.children).flatMap(allElements)]
}

function parsed(bytes: Uint8Array): XmlDocument | undefined {
  try {
    return XmlDocument.fromBuffer(bytes)
  } catch {
    return undefined
  }
}
