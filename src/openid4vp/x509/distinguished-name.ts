// Names of certificates, compared as in RFC 5280 § 7.1: common string types are prepared as in RFC
// 4518 and then compared with each other. Any other type (TeletexString, BMPString, UniversalString
// …) is compared by its bytes.

import { DerError, DerReader, readAll, readOid, readText, TAG } from './der.ts'

const NAME_BYTES_MAX = 4096
const ATTRIBUTES_MAX = 64

/** An IA5String by RFC 5280 § 7.2, compared without case. */
const DOMAIN_COMPONENT = '0.9.2342.19200300.100.1.25'

/** A Name as DER. Its prepared form is made at most once: one name may be compared with those of hundreds of anchors. */
export class Name {
  private preparedForm: string | undefined

  constructor(readonly der: Uint8Array) {}

  get prepared(): string {
    this.preparedForm ??= describeName(this.der)
    return this.preparedForm
  }
}

export const isSameName = (a: Name, b: Name): boolean => Buffer.compare(a.der, b.der) === 0 || a.prepared === b.prepared

function describeName(name: Uint8Array): string {
  try {
    if (name.length <= NAME_BYTES_MAX) return JSON.stringify(readRelativeNames(name))
  } catch (error) {
    if (!(error instanceof DerError)) throw error
  }
  // An unreadable or very long name is compared by its bytes only.
  return Buffer.from(name).toString('hex')
}

/** The attributes of one relative name are a set; the relative names are a list. */
function readRelativeNames(name: Uint8Array): string[][] {
  const sets = readAll(new DerReader(name).next(TAG.sequence).content, TAG.set)
  const named = sets.map(set =>
    readAll(set.content, TAG.sequence)
      .map(({ content }) => readAttribute(content))
      .sort(),
  )
  if (named.flat().length > ATTRIBUTES_MAX) throw new DerError('a name of too many parts')
  return named
}

function readAttribute(content: Uint8Array): string {
  const reader = new DerReader(content)
  const type = readOid(reader.next(TAG.oid).content)
  const value = reader.next()
  reader.end()
  const isText =
    value.tag === TAG.printableString ||
    value.tag === TAG.utf8String ||
    (value.tag === TAG.ia5String && type === DOMAIN_COMPONENT)
  const text = isText ? prepareText(readText(value) ?? '') : undefined
  return text === undefined ? `${type}#${Buffer.from(value.raw).toString('hex')}` : `${type}=${text}`
}

// RFC 4518 § 2.2: characters that are dropped, and those that become a space.
const INVISIBLE = /\p{Cf}|\p{Variation_Selector}|\u034f|[\u1806\ufffc]/gu
const SPACES = /[\s\u0085]+/gu
const CONTROLS = /\p{Cc}/gu
// § 2.4.
const PROHIBITED = /[\p{Cn}\p{Co}\p{Cs}\ufffd]/u

/** Undefined for a text that cannot be prepared. */
function prepareText(text: string): string | undefined {
  if (PROHIBITED.test(text)) return undefined
  const visible = text.replace(INVISIBLE, '').replace(SPACES, ' ').replace(CONTROLS, '')
  return foldCase(visible.normalize('NFKC')).normalize('NFKC').replace(SPACES, ' ').trim()
}

/** Converts through both cases, so that ß equals SS and all sigmas are equal. The dotless ı has no other case in RFC 3454 B.2. */
const foldCase = (text: string): string =>
  text
    .split('ı')
    .map(part => part.toLowerCase().toUpperCase())
    .join('ı')
