import type { TrustAnchor } from '../openid4vp/trust.ts'
import type { Deps } from './deps.ts'
import { type AnchorRow, listAnchors } from './store.ts'

export type Anchors = (environment: 'test' | 'live') => Promise<readonly TrustAnchor[]>

/**
 * The operator's anchors of an environment and, in test sessions, the sandbox issuer's. Kept in
 * memory, because every wallet response needs them, and read again after every change of settings.
 */
export function rememberAnchors({ db, settingsVersion, sandbox }: Pick<Deps, 'db' | 'settingsVersion' | 'sandbox'>): Anchors {
  const known = new Map<string, { at: number; own: TrustAnchor[] }>()
  const ownOf = async (environment: 'test' | 'live') => {
    const at = await settingsVersion()
    const remembered = known.get(environment)
    if (remembered?.at === at) return remembered.own
    const own = (await listAnchors(db, environment)).map(anchorOf)
    known.set(environment, { at, own })
    return own
  }
  return async environment =>
    environment === 'test' ? [...(await ownOf('test')), (await sandbox()).anchor] : await ownOf('live')
}

const anchorOf = ({ id, certificate, mode, crl, trustedFor, label }: AnchorRow): TrustAnchor => ({
  id,
  certificate: Buffer.from(certificate.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64'),
  mode,
  crl,
  trustedFor,
  label,
  isSandbox: false,
})
