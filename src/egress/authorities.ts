import type { SecureContext } from 'node:tls'

/** Authorities that are trusted beside the system's (VIDIMUS_EXTRA_CA). */
export type ExtraCa = {
  pem: string
  /** Trusts both, for a TLS connection. Parsed once: there are over a hundred. */
  secureContext(): SecureContext
}

export function createExtraCa(pem: string): ExtraCa {
  let context: SecureContext | undefined
  return {
    pem,
    secureContext() {
      // Not imported: the start of the service would wait for it.
      const { createSecureContext, getCACertificates } = process.getBuiltinModule('node:tls')
      context ??= createSecureContext({ ca: [...getCACertificates('default'), pem] })
      return context
    },
  }
}
