import type { SecureContext } from 'node:tls'

/** Authorities that are trusted beside the system's (VIDIMUS_EXTRA_CA). */
export type ExtraCa = {
  pem: string
  /** Trusts these and the system's authorities. Made once: there are over a hundred certificates to parse. */
  secureContext(): SecureContext
}

export function createExtraCa(pem: string): ExtraCa {
  let context: SecureContext | undefined
  return {
    pem,
    secureContext() {
      // Loaded here and not imported: the start of the service would wait for it.
      const { createSecureContext, getCACertificates } = process.getBuiltinModule('node:tls')
      context ??= createSecureContext({ ca: [...getCACertificates('default'), pem] })
      return context
    },
  }
}
