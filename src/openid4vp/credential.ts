/** What a presentation must be bound to. Times in milliseconds. */
export type Expected = {
  now: number
  /** When the session was created: a proof of possession cannot be older. */
  createdAt: number
  nonce: string
  /** With its prefix: the audience of a key binding. */
  clientId: string
  /** The exact string of the request. */
  responseUri: string
  /** RFC 7638 SHA-256 of the key the answer was encrypted to; null when it came unencrypted. */
  encryptionKeyThumbprint: Uint8Array | null
}

/** A credential as read from a presentation, before trust, status and query are looked at. */
export type ReadCredential = {
  format: 'dc+sd-jwt' | 'mso_mdoc'
  /** The vct or doctype. */
  type: string
  /** Issuer-signed and disclosed, as JSON: the processed payload, or namespace → element → value. */
  claims: Record<string, unknown>
  /** DER, leaf first, as the issuer sent it. */
  chain: readonly Uint8Array[]
  /** Where its status is published; `unsupported` when it names a mechanism we do not know. */
  status: StatusReference | 'unsupported' | undefined
}

export type StatusReference = { uri: string; index: number }

/** Clocks differ a little. */
export const CLOCK_SKEW_MS = 60_000

/** No issuer needs more certificates, or larger ones. */
export const CERTIFICATES_MAX = 5
export const CERTIFICATE_BYTES_MAX = 8192
