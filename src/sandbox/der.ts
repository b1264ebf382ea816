// A minimal X.509 reader for a wallet in a browser: issuer, subject and names.
import { fromBase64, toBase64Url } from './bytes.ts'

const CONTEXT_0 = 0xa0
const CONTEXT_3 = 0xa3
const DNS_NAME = 0x82
/** The common name, before the name of the organisation. */
const NAMES = [Uint8Array.of(0x55, 4, 3), Uint8Array.of(0x55, 4, 10)].map(toBase64Url)
const SUBJECT_ALT_NAME = toBase64Url(Uint8Array.of(0x55, 0x1d, 0x11))

export type Certificate = { der: Uint8Array<ArrayBuffer>; isSelfIssued: boolean; subject: string; dnsNames: string[] }

type Element = { tag: number; raw: Uint8Array; content: Uint8Array }

/** `base64` is one element of `x5c`. */
export function readCertificate(base64: string): Certificate {
  const der = fromBase64(base64)
  const [certificate] = elements(der)
  const [tbs] = elements(certificate!.content)
  // The version is explicit in every certificate with extensions (RFC 5280 § 4.1.2.1).
  const fields = elements(tbs!.content).filter(({ tag }) => tag !== CONTEXT_0)
  const [, , issuer, , subject] = fields
  return {
    der,
    isSelfIssued: toBase64Url(issuer!.raw) === toBase64Url(subject!.raw),
    subject: nameOf(subject!),
    dnsNames: dnsNames(fields.find(({ tag }) => tag === CONTEXT_3)),
  }
}

function nameOf(subject: Element): string {
  const parts = elements(subject.content).flatMap(set => elements(set.content).map(part => elements(part.content)))
  const found = NAMES.map(name => parts.find(([id]) => toBase64Url(id!.content) === name)).find(part => part !== undefined)
  return new TextDecoder().decode(found?.[1]?.content)
}

function dnsNames(extensions: Element | undefined): string[] {
  if (!extensions) return []
  const [list] = elements(extensions.content)
  const found = elements(list!.content)
    .map(extension => elements(extension.content))
    .find(([id]) => toBase64Url(id!.content) === SUBJECT_ALT_NAME)
  const value = found?.at(-1)
  if (!value) return []
  const [names] = elements(value.content)
  return elements(names!.content)
    .filter(({ tag }) => tag === DNS_NAME)
    .map(({ content }) => new TextDecoder().decode(content))
}

function elements(bytes: Uint8Array): Element[] {
  const found: Element[] = []
  for (let at = 0; at < bytes.length; ) {
    const { length, start } = lengthAt(bytes, at + 1)
    const end = start + length
    if (end > bytes.length) throw new Error('a certificate ends too early')
    found.push({ tag: bytes[at]!, raw: bytes.subarray(at, end), content: bytes.subarray(start, end) })
    at = end
  }
  return found
}

function lengthAt(bytes: Uint8Array, at: number): { length: number; start: number } {
  const first = bytes[at] ?? 0
  if (first < 0x80) return { length: first, start: at + 1 }
  const start = at + 1 + (first & 0x7f)
  return { length: bytes.subarray(at + 1, start).reduce((length, byte) => length * 256 + byte, 0), start }
}
