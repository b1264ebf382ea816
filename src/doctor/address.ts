import { isLoopback } from '../egress/addresses.ts'

/**
 * `local`: this machine only, so nothing is set up for phones yet. `plain`: without TLS, which most
 * wallets refuse. Health, overview and installation all ask here.
 */
type AddressKind = 'local' | 'plain' | 'secure'

export function addressKind(publicUrl: string): AddressKind {
  const { protocol, hostname } = new URL(publicUrl)
  if (/(^|\.)localhost$/.test(hostname) || isLoopback(hostname.replace(/^\[|\]$/g, ''))) return 'local'
  return protocol === 'https:' ? 'secure' : 'plain'
}
