import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Ground, Unsealing } from '../ground.ts'
import type { IssuerState } from './issuer/issuer.ts'
import { findSandbox, saveSandbox } from './store.ts'

/** `anchor` is the trust anchor of test sessions, in the form of the verifier. */
export type Sandbox = Awaited<ReturnType<typeof sandboxOf>>

const LOAD_ATTEMPTS_MAX = 5

/** Loaded on first use: a start does not wait for the makers of documents. */
const issuing = () => import('./issuer/issuer.ts')

/**
 * The sandbox issuer of this installation. It is made on first use and stored sealed; its signers
 * are renewed before they expire.
 */
export function createSandbox(deps: Ground): () => Promise<Sandbox> {
  let current: { sandbox: Promise<Sandbox>; until: number } | undefined
  return () => {
    if (!current || current.until <= deps.now()) {
      const state = loadState(deps)
      current = { sandbox: state.then(sandboxOf), until: Number.POSITIVE_INFINITY }
      const loading = current
      loading.sandbox.then(
        async () => {
          loading.until = (await issuing()).renewalDueAt(await state)
        },
        () => {
          // A failure is not cached: the next call tries again.
          if (current === loading) current = undefined
        },
      )
    }
    return current.sandbox
  }
}

/** The first process to store the issuer decides, when two make or renew it at once. */
async function loadState(deps: Ground, attempt = 1): Promise<IssuerState> {
  const { db, write, now, random, sealer, config } = deps
  const { createIssuer, renewalDueAt, renewSigners } = await issuing()
  const stored = await findSandbox(db)
  const state: IssuerState | undefined = stored && JSON.parse(sealer.open(SEALED.sandboxIssuer, stored))
  const isGood = state && state.publicUrl === config.publicUrl && renewalDueAt(state) > now()
  if (isGood) return state
  const making = { publicUrl: config.publicUrl, now: now(), random }
  const made = state ? await renewSigners(state, making) : await createIssuer(making)
  const value = sealer.seal(SEALED.sandboxIssuer, JSON.stringify(made))
  if (await write(tx => saveSandbox(tx, value, stored))) return made
  if (attempt === LOAD_ATTEMPTS_MAX) throw new Error('the sandbox issuer is replaced again and again by another process')
  return await loadState(deps, attempt + 1)
}

async function sandboxOf(state: IssuerState) {
  const { loadIssuer } = await issuing()
  const issuer = loadIssuer(state)
  const anchor = {
    id: 'sandbox',
    certificate: issuer.anchor,
    mode: 'pkix' as const,
    crl: null,
    trustedFor: null,
    label: 'Sandbox issuer',
    isSandbox: true,
    use: 'both' as const,
  }
  return { issuer, anchor }
}

/** After "rekey --data". */
export async function sealSandboxAgain({ sealer }: Unsealing, tx: Db): Promise<void> {
  const stored = await findSandbox(tx)
  const sealed = stored && sealer.sealAgain(SEALED.sandboxIssuer, stored)
  if (sealed) await saveSandbox(tx, sealed, stored)
}
