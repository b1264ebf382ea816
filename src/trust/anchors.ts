import type { Remembering } from '../ground.ts'
import { AnchorCertificates, AnchorIndex } from '../openid4vp/trust/anchor-index.ts'
import type { TrustAnchor } from '../openid4vp/trust/trust.ts'
import type { Testing } from './deps.ts'
import { endOf, nextUpdateOf } from './state.ts'
import { type AnchorRow, type ListedAnchor, listAnchors, listBlocked } from './store.ts'

export type Anchors = (environment: AnchorRow['environment']) => Promise<AnchorIndex>

/**
 * The operator's anchors of an environment, those of its lists and, in test sessions, the sandbox issuer's. Kept in memory,
 * because every wallet response needs them, and read again after every change of settings.
 */
export function rememberAnchors({ db, settingsVersion, sandbox }: Remembering & Testing): Anchors {
  const known = new Map<string, { version: number; issuer: TrustAnchor | undefined; index: Promise<AnchorIndex> }>()
  const certificates = { test: new KnownCertificates(), live: new KnownCertificates() }

  async function read(environment: AnchorRow['environment'], issuer: TrustAnchor | undefined): Promise<AnchorIndex> {
    const rows = await listAnchors(db, environment)
    // Blocks are read after the anchors: one that was added in between counts at once.
    const blocked = await listBlocked(db, environment)
    const { reader, derOf } = await certificates[environment].refresh(rows.map(({ certificate }) => certificate))
    const own = rows.map(row => anchorOf(row, derOf(row.certificate)))
    return new AnchorIndex(issuer ? [...own, issuer] : own, new Set(blocked), reader)
  }

  return async environment => {
    const version = await settingsVersion()
    const issuer = environment === 'test' ? (await sandbox()).anchor : undefined
    const kept = known.get(environment)
    if (kept?.version === version && kept.issuer === issuer) return await kept.index
    const current = { version, issuer, index: read(environment, issuer) }
    known.set(environment, current)
    try {
      return await current.index
    } catch (error) {
      // The next answer reads again.
      if (known.get(environment) === current) known.delete(environment)
      throw error
    }
  }
}

const READ_AT_ONCE = 100

/** The certificates of the rows that were read last: most of the next ones are the same. */
class KnownCertificates {
  private readonly reader = new AnchorCertificates()
  private byPem = new Map<string, Uint8Array>()

  /** Reads those that are new, and lets requests in between. */
  async refresh(pems: readonly string[]) {
    const before = this.byPem
    const current = new Map(pems.map(pem => [pem, before.get(pem) ?? decodePem(pem)]))
    const unread = [...current].filter(([pem]) => !before.has(pem))
    for (const [index, [, der]] of unread.entries()) {
      this.reader.read(der)
      if (index % READ_AT_ONCE === READ_AT_ONCE - 1) await new Promise<void>(resolve => setImmediate(resolve))
    }
    this.byPem = current
    return { reader: this.reader, derOf: (pem: string) => current.get(pem) ?? decodePem(pem) }
  }
}

const decodePem = (pem: string): Uint8Array => Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64')

function anchorOf({ list, ...row }: ListedAnchor, certificate: Uint8Array): TrustAnchor {
  const { id, mode, crl, trustedFor, label, use, since } = row
  return {
    id,
    certificate,
    mode,
    crl,
    trustedFor,
    label,
    isSandbox: false,
    use: use ?? 'both',
    ...(list && { list: { ...list, nextUpdate: nextUpdateOf(list), endsAt: endOf(list) } }),
    ...(since !== null && { since }),
  }
}
