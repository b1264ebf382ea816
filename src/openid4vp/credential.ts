/** The request that a presentation must be bound to. Times in milliseconds. */
export type Expected = {
  now: number
  /** Creation of the session: a proof of possession cannot be older. */
  createdAt: number
  nonce: string
  /** With its prefix. The audience of a key binding. */
  clientId: string
  /** The exact string of the request. */
  responseUri: string
  /**
   * RFC 7638 SHA-256 of the key that the answer was encrypted to; null for an unencrypted answer.
   */
  encryptionKeyThumbprint: Uint8Array | null
}

/** A credential as read from a presentation, before trust, status and query are checked. */
export type ReadCredential = {
  format: 'dc+sd-jwt' | 'mso_mdoc'
  /** The vct or doctype. */
  type: string
  /**
   * Signed by the issuer and disclosed, as JSON: the processed payload, or namespace → element →
   * value.
   */
  claims: Record<string, unknown>
  /** DER, leaf first, as the issuer sent it. */
  chain: readonly Uint8Array[]
  /** The place of its status; `unsupported` for an unknown mechanism. */
  status: StatusReference | 'unsupported' | undefined
}

export type StatusReference = { uri: string; index: number }

/** Tolerated difference between clocks. */
export const CLOCK_SKEW_MS = 60_000

/** No issuer needs more certificates, or larger ones. */
export const CERTIFICATES_MAX = 5
export const CERTIFICATE_BYTES_MAX = 8192
