import type { CborItem } from './cbor/item.ts'

/** The request that a presentation must be bound to. Times in milliseconds. */
export type Expected = {
  now: number
  /** Creation of the session: a proof of possession cannot be older. */
  createdAt: number
  nonce: string
  /** The `aud` of a key binding: the client id with its prefix, or `origin:` and the origin of a page. */
  audience: string
  /** The audience that wallets take by mistake, and what is then said of it. */
  mistakenAudience?: { audience: string; detail: string }
  /** The session transcript, which a device signs besides the document. */
  transcript: () => Uint8Array
  /** In person only: the key of a MAC by the device key of an mdoc; undefined where there can be none. */
  macKey?: (deviceKey: CborItem) => Promise<Uint8Array | undefined>
}

/** A credential as read from a presentation, before trust, status and query are checked. */
export type ReadCredential = {
  format: 'dc+sd-jwt' | 'mso_mdoc'
  /** The vct or doctype. */
  type: string
  /** Signed by the issuer and disclosed, as JSON: the processed payload, or namespace → element → value. */
  claims: Record<string, unknown>
  /** The part that the issuer signed: equal in all presentations of one credential. */
  signed: string | Uint8Array
  /** DER, leaf first, as the issuer sent it. */
  chain: readonly Uint8Array[]
  /** The places of its status, all of which count; `unsupported` for an unknown mechanism. */
  status: readonly StatusReference[] | 'unsupported' | undefined
  /** How possession was proven, if not by a signature. */
  proof?: 'mac'
}

/** `certificate`: DER of the authority that must have issued the signer of this list. */
export type StatusReference = { uri: string; certificate?: Uint8Array } & ({ index: number } | { id: Uint8Array })

/** Tolerated difference between clocks. */
export const CLOCK_SKEW_MS = 60_000

/** Elements, names and values of one credential, with its disclosures. */
export const ELEMENTS_MAX = 10_000
export const TOO_MANY_ELEMENTS = `it has more than ${ELEMENTS_MAX.toLocaleString('en')} elements, names and values`

/** No issuer needs more certificates, or larger ones. */
export const CERTIFICATES_MAX = 5
export const CERTIFICATE_BYTES_MAX = 8192
