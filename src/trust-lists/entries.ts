// The limits of a list's entries, the same for each kind. A bad entry is counted and left out; only too many of them
// refuse a list.

import { parseUtcInstant } from '../base/time.ts'
import { CERTIFICATE_BYTES_MAX } from '../openid4vp/credential.ts'
import { describeCertificate } from '../openid4vp/x509/x509.ts'
import type { ListEntry, Skipped, SkipReason } from './list.ts'
import { Unreadable } from './refuse.ts'

const CERTIFICATES_IN_LIST_MAX = 2000
const NAME_CHARS_MAX = 200

export class Entries {
  readonly all: ListEntry[] = []
  readonly skipped: Skipped = {}
  private seen = 0

  add(entry: ListEntry): void {
    this.count()
    const { certificate } = entry
    if (certificate.length > CERTIFICATE_BYTES_MAX) this.note('too_large')
    else if (!describeCertificate(certificate)) this.note('unreadable')
    // A copy: the entry must not keep the whole list in memory.
    else this.all.push({ ...entry, certificate: new Uint8Array(certificate) })
  }

  skip(reason: SkipReason): void {
    this.count()
    this.note(reason)
  }

  private count(): void {
    if (++this.seen > CERTIFICATES_IN_LIST_MAX)
      throw new Unreadable('too_many', `it has more than ${CERTIFICATES_IN_LIST_MAX.toLocaleString('en')} certificates`)
  }

  private note(reason: SkipReason): void {
    this.skipped[reason] = (this.skipped[reason] ?? 0) + 1
  }
}

/** A name of a list without control and formatting characters, which could rearrange the text around it. */
export function plainName(text: unknown): string | null {
  if (typeof text !== 'string') return null
  const plain = text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(/\p{Cf}/gu, '')
    .trim()
  return [...plain.slice(0, 2 * NAME_CHARS_MAX)].slice(0, NAME_CHARS_MAX).join('') || null
}

/** UTC in milliseconds. Fractions of a second are forbidden by ETSI (TS 119 602 § 6.1.3), and operators write them, and `+00:00`. */
export const utcInstant = (value: unknown): number | undefined =>
  typeof value === 'string' ? parseUtcInstant(value.replace(/\+00:00$/, 'Z')) : undefined

export const countryOf = (text: unknown): string | null =>
  typeof text === 'string' && /^[A-Za-z]{2}$/.test(text) ? text.toUpperCase() : null
