// A strict reader of XML 1.0 with namespaces, for signed lists only: UTF-8, elements, attributes and text. Real lists use
// nothing else, and the rest of XML is where readers disagree, so it is refused: document types, entities, comments and CDATA
// inside the root, processing instructions. The tree it returns is the one that is signed and the one that is read.
//
// libxml2-wasm 0.7.2 was measured instead. It awaits at top level, so `bun build --compile --bytecode` cannot take it: without
// bytecode the program starts in 107 ms instead of 17, as ES modules in 25, and it grows by 3.1 MB. Loading takes 90 ms and 45 MB.
// It has no option against document types, comments, CDATA, instructions, depth 41 or 1,000 prefixes (1.0 s), so a scanner
// like this one would stand before it anyway. It is the oracle of the tests.
import { malformed } from './refuse.ts'

export type XmlElement = {
  prefix: string
  local: string
  /** Empty without one; the same for an attribute. */
  namespace: string
  /** Without declarations of namespaces. */
  attributes: XmlAttribute[]
  children: (XmlElement | string)[]
}

export type XmlAttribute = { prefix: string; local: string; namespace: string; value: string }

const ELEMENTS_MAX = 100_000
const DEPTH_MAX = 40
/** Declarations of namespaces included. */
const ATTRIBUTES_MAX = 64
/** Prefixes in scope of one element, the default one included. A bomb of 4 MB would take seconds without this limit. */
const PREFIXES_MAX = 32
const REFERENCES_MAX = 100_000

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'
const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/'

// Names of the basic plane only: in there, the order of UTF-16 is the order of Canonical XML.
const NAME_START =
  'A-Z_a-z\\xC0-\\xD6\\xD8-\\xF6\\xF8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD'
const NAME = `[${NAME_START}][${NAME_START}\\-.0-9\\xB7\\u0300-\\u036F\\u203F\\u2040]*`
const QUALIFIED = `(?:(${NAME}):)?(${NAME})`
const SPACE = '[ \\t\\n]'

const DECLARATION = new RegExp(
  `<\\?xml${SPACE}+version${SPACE}*=${SPACE}*(?:"1\\.0"|'1\\.0')` +
    `(?:${SPACE}+encoding${SPACE}*=${SPACE}*(?:"[Uu][Tt][Ff]-8"|'[Uu][Tt][Ff]-8'))?` +
    `(?:${SPACE}+standalone${SPACE}*=${SPACE}*(?:"(?:yes|no)"|'(?:yes|no)'))?${SPACE}*\\?>`,
  'y',
)
const OPENING = new RegExp(`<${QUALIFIED}`, 'y')
const ATTRIBUTE = new RegExp(`${SPACE}+${QUALIFIED}${SPACE}*=${SPACE}*(?:"([^"<]*)"|'([^'<]*)')`, 'y')
const OPENING_END = new RegExp(`${SPACE}*(/?)>`, 'y')
const CLOSING = new RegExp(`</${QUALIFIED}${SPACE}*>`, 'y')
const BLANK = new RegExp(`${SPACE}*`, 'y')
const REFERENCE = /&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));/y
const NO_CHARACTER = /[^\t\n\r\x20-\uFFFD]/
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
/** RFC 3986, absolute (Canonical XML § 1.3) or none; nothing in it needs an escape. */
const URI_PART = "(?:[A-Za-z0-9._~:/?@!$'()*+,;=-]|%[0-9A-Fa-f]{2})*"
const NAMESPACE = new RegExp(`^(?:[A-Za-z][A-Za-z0-9+.-]*:${URI_PART}(?:#${URI_PART})?)?$`)

/** The root. Throws Unreadable. The size is limited in read-list.ts. */
export function readXml(bytes: Uint8Array): XmlElement {
  return new Reader(decode(bytes)).readDocument()
}

function decode(bytes: Uint8Array): string {
  try {
    // One byte order mark is left out by the decoder. Line ends: XML 1.0 § 2.11.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll(/\r\n?/g, '\n')
  } catch {
    throw malformed('it is not UTF-8')
  }
}

/** Namespaces by prefix. */
type Scope = ReadonlyMap<string, string>
type Opening = { element: XmlElement; scope: Scope; isEmpty: boolean }

class Reader {
  private at = 0
  private elements = 0
  private references = 0

  constructor(private readonly text: string) {}

  readDocument(): XmlElement {
    this.match(DECLARATION)
    this.skipMisc()
    const root = this.readRoot()
    this.skipMisc()
    if (this.at < this.text.length) throw malformed('something follows its root')
    return root
  }

  /** White space and comments outside the root; they are not part of the canonical form. */
  private skipMisc(): void {
    this.match(BLANK)
    while (this.text.startsWith('<!--', this.at)) {
      const end = this.text.indexOf('--', this.at + 4)
      if (end < 0 || this.text[end + 2] !== '>') throw malformed('a comment does not end')
      checkCharacters(this.text.slice(this.at, end))
      this.at = end + 3
      this.match(BLANK)
    }
  }

  /** A loop with a stack of its own. */
  private readRoot(): XmlElement {
    const root = this.readOpening(new Map([['xml', XML_NAMESPACE]]))
    const open = root.isEmpty ? [] : [root]
    for (let parent = open.at(-1); parent; parent = open.at(-1)) {
      this.readText(parent.element)
      if (this.text.startsWith('</', this.at)) {
        this.readClosing(parent.element)
        open.pop()
        continue
      }
      if (open.length === DEPTH_MAX) throw malformed(`its elements are nested more than ${DEPTH_MAX} deep`)
      const child = this.readOpening(parent.scope)
      parent.element.children.push(child.element)
      if (!child.isEmpty) open.push(child)
    }
    return root.element
  }

  private readOpening(outer: Scope): Opening {
    const [, prefix = '', local = ''] = this.match(OPENING) ?? this.refuseMarkup()
    if (++this.elements > ELEMENTS_MAX) throw malformed(`it has more than ${ELEMENTS_MAX} elements`)
    const written = this.readAttributes()
    const end = this.match(OPENING_END)
    if (!end) throw malformed(`the tag <${shown(local)}> does not end`)
    const scope = scopeWith(outer, written.filter(isDeclaration))
    const attributes = written
      .filter(attribute => !isDeclaration(attribute))
      // An attribute without a prefix is in no namespace.
      .map(attribute => ({ ...attribute, namespace: attribute.prefix && namespaceOf(scope, attribute.prefix) }))
    refuseTwice(attributes)
    const element = { prefix, local, namespace: namespaceOf(scope, prefix), attributes, children: [] }
    return { element, scope, isEmpty: end[1] === '/' }
  }

  private readAttributes(): Omit<XmlAttribute, 'namespace'>[] {
    const attributes: Omit<XmlAttribute, 'namespace'>[] = []
    for (let match = this.match(ATTRIBUTE); match; match = this.match(ATTRIBUTE)) {
      if (attributes.length === ATTRIBUTES_MAX) throw malformed(`an element has more than ${ATTRIBUTES_MAX} attributes`)
      const [, prefix = '', local = '', double, single] = match
      // XML 1.0 § 3.3.3: without a document type, all attributes are CDATA.
      const value = this.resolve((double ?? single ?? '').replaceAll(/[\t\n]/g, ' '))
      attributes.push({ prefix, local, value })
    }
    return attributes
  }

  private readText(parent: XmlElement): void {
    const end = this.text.indexOf('<', this.at)
    if (end < 0) throw malformed(`<${shown(parent.local)}> does not end`)
    if (end === this.at) return
    const raw = this.text.slice(this.at, end)
    // XML 1.0 § 2.4.
    if (raw.includes(']]>')) throw malformed('"]]>" is in its text')
    parent.children.push(this.resolve(raw))
    this.at = end
  }

  private readClosing({ prefix, local }: XmlElement): void {
    const match = this.match(CLOSING)
    if (!match || (match[1] ?? '') !== prefix || match[2] !== local) throw malformed(`<${shown(local)}> does not end`)
  }

  /** Character references and the five entities; without a document type there are no others. */
  private resolve(raw: string): string {
    checkCharacters(raw)
    let resolved = ''
    let from = 0
    // Not replaceAll: it finds all matches before it asks for the first one, and text may consist of nothing else.
    for (let at = raw.indexOf('&'); at >= 0; at = raw.indexOf('&', from)) {
      if (++this.references > REFERENCES_MAX) throw malformed(`it has more than ${REFERENCES_MAX} references`)
      REFERENCE.lastIndex = at
      const [, hex, decimal, entity] = REFERENCE.exec(raw) ?? []
      const code = hex === undefined ? Number.parseInt(decimal ?? '', 10) : Number.parseInt(hex, 16)
      if (!entity && !isCharacter(code)) throw malformed('it refers to an entity or to a character that XML does not have')
      resolved += raw.slice(from, at) + (entity ? ENTITIES[entity] : String.fromCodePoint(code))
      from = REFERENCE.lastIndex
    }
    return resolved + raw.slice(from)
  }

  private refuseMarkup(): never {
    const has = (start: string) => this.text.startsWith(start, this.at)
    if (has('<!DOCTYPE')) throw malformed('it has a document type declaration')
    if (has('<!--')) throw malformed('a comment is inside its root')
    if (has('<![CDATA[')) throw malformed('it has a CDATA section')
    if (has('<?')) throw malformed('it has a processing instruction or a declaration that is not XML 1.0 in UTF-8')
    throw malformed('it is not XML')
  }

  /** Matches at the reader's position only. */
  private match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at
    const match = pattern.exec(this.text)
    if (match) this.at = pattern.lastIndex
    return match ?? undefined
  }
}

const isDeclaration = ({ prefix, local }: { prefix: string; local: string }): boolean =>
  prefix === 'xmlns' || (prefix === '' && local === 'xmlns')

/** Namespaces in XML 1.0 § 3 and § 5. */
function scopeWith(outer: Scope, declarations: { prefix: string; local: string; value: string }[]): Scope {
  if (declarations.length === 0) return outer
  const scope = new Map(outer)
  const declared = new Set<string>()
  for (const { prefix, local, value } of declarations) {
    const name = prefix && local
    if (declared.has(name)) throw malformed('a namespace is declared twice in a tag')
    declared.add(name)
    if (!NAMESPACE.test(value)) throw malformed('a namespace is not an absolute URI without escapes')
    const isReserved = name === 'xmlns' || value === XMLNS_NAMESPACE || (name === 'xml') !== (value === XML_NAMESPACE)
    if (isReserved || (name && !value)) throw malformed('a namespace is declared wrongly')
    scope.set(name, value)
  }
  // `xml` is always there.
  if (scope.size - 1 > PREFIXES_MAX) throw malformed(`more than ${PREFIXES_MAX} prefixes are in scope`)
  return scope
}

function namespaceOf(scope: Scope, prefix: string): string {
  const namespace = scope.get(prefix)
  if (namespace === undefined && prefix !== '') throw malformed(`the prefix "${shown(prefix)}" is not declared`)
  return namespace ?? ''
}

function refuseTwice(attributes: readonly XmlAttribute[]): void {
  const seen = new Set<string>()
  for (const { prefix, local, namespace } of attributes) {
    if (prefix === 'xml' && local === 'id') throw malformed('it has an attribute xml:id')
    const name = `${namespace} ${local}`
    if (seen.has(name)) throw malformed(`an element has the attribute "${shown(local)}" twice`)
    seen.add(name)
  }
}

function checkCharacters(text: string): void {
  if (NO_CHARACTER.test(text)) throw malformed('it has a character that XML does not have')
}

/** XML 1.0 § 2.2. */
const isCharacter = (code: number): boolean =>
  code === 0x9 ||
  code === 0xa ||
  code === 0xd ||
  (code >= 0x20 && code <= 0xd7ff) ||
  (code >= 0xe000 && code <= 0xfffd) ||
  (code >= 0x10000 && code <= 0x10ffff)

/** Names of a list that nobody vouches for. */
const shown = (name: string): string => name.slice(0, 40)

/** The children with this name, in their order. */
export function childrenNamed({ children }: XmlElement, namespace: string, local: string): XmlElement[] {
  return elementsOf(children).filter(child => child.namespace === namespace && child.local === local)
}

export const elementsOf = (children: readonly (XmlElement | string)[]): XmlElement[] =>
  children.filter(child => typeof child !== 'string')

/** Undefined with elements inside. */
export function textOf({ children }: XmlElement): string | undefined {
  return children.every(child => typeof child === 'string') ? children.join('').trim() : undefined
}

/** Undefined without it. Attributes of lists are in no namespace. */
export function attributeOf({ attributes }: XmlElement, local: string): string | undefined {
  return attributes.find(attribute => attribute.namespace === '' && attribute.local === local)?.value
}
