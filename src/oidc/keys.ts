// The keys that sign ID tokens: one of each algorithm in use, the next one published a day before its use, the last one for a
// day after it.
import { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair, importPKCS8, type JWK } from 'jose'
import type { Setting } from '../audit/deps.ts'
import { SALT_BYTES } from '../base/seal.ts'
import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Ground, Reading, Remembering, Sealing, Unsealing } from '../ground.ts'
import { apiError } from '../http/errors.ts'
import { findIssuer, type Issuer, insertIssuer, listIssuers } from './client-store.ts'
import { deleteKey, deleteKeysUntil, insertKey, type KeyRow, listKeys, replaceKey } from './key-store.ts'
import { presentKey } from './present.ts'
import type { SigningKey } from './schema.ts'

const DAY_MS = 86_400_000
const USED_MS = 90 * DAY_MS
const ALGS = ['RS256', 'ES256'] as const
export type Alg = (typeof ALGS)[number]

type KeyDeps = Reading & Sealing & Setting
type TurnDeps = KeyDeps & Pick<Ground, 'forgetDeleted'>

/** Makes issuer and keys where there are none yet. RSA takes a while, so keys are made before the write. */
export async function prepareIssuer(deps: KeyDeps, issuer: Issuer): Promise<(tx: Db) => Promise<void>> {
  if (await findIssuer(deps.db, issuer)) return async () => {}
  const at = deps.now()
  const keys = await Promise.all(ALGS.map(alg => makeKey(deps, issuer, alg, at)))
  return async tx => {
    if (await findIssuer(tx, issuer)) return
    const salt = Buffer.from(deps.random(SALT_BYTES))
    const secret = Buffer.from(deps.random(32)).toString('base64url')
    await insertIssuer(tx, { ...issuer, salt, sealed: deps.sealer.seal(SEALED.oidcIssuer(issuer, salt), secret), createdAt: at })
    for (const key of keys) await insertKey(tx, key)
  }
}

async function makeKey(
  { random, sealer }: Sealing,
  { tenantId, environment }: Issuer,
  alg: Alg,
  useFrom: number,
): Promise<KeyRow> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { modulusLength: 2048, extractable: true })
  const publicJwk = (await exportJWK(publicKey)) as Record<string, string>
  const kid = await calculateJwkThumbprint(publicJwk as JWK)
  const salt = Buffer.from(random(SALT_BYTES))
  const sealed = sealer.seal(SEALED.oidcKey({ id: kid, tenantId }, salt), await exportPKCS8(privateKey))
  return { kid, tenantId, environment, alg, publicJwk, salt, sealed, useFrom, useUntil: null, removeAt: null }
}

export async function readKeys({ db, now }: Reading, issuer: Issuer): Promise<SigningKey[]> {
  return publishedAt(await listKeys(db, issuer), now()).map(presentKey)
}

const publishedAt = (keys: KeyRow[], now: number): KeyRow[] => keys.filter(({ removeAt }) => removeAt === null || removeAt > now)

const inUseAt = (keys: readonly KeyRow[], alg: Alg, now: number): KeyRow | undefined =>
  keys.findLast(key => key.alg === alg && key.useFrom <= now && (key.useUntil === null || key.useUntil > now))

/** Public members only. */
export async function readJwks({ db, now }: Reading, issuer: Issuer): Promise<{ keys: JWK[] }> {
  const keys = publishedAt(await listKeys(db, issuer), now())
  return { keys: keys.map(({ kid, alg, publicJwk }) => ({ ...publicJwk, use: 'sig', alg, kid })) }
}

/** The key in use, with its name. */
export type TokenSigners = (issuer: Issuer, alg: Alg) => Promise<{ kid: string; key: CryptoKey }>

/** Kept in memory until settings change. */
export function rememberTokenSigners(deps: Reading & Unsealing & Remembering): TokenSigners {
  let known: { version: number; keys: Map<string, CryptoKey>; issuers: Map<string, KeyRow[]> } | undefined
  return async (issuer, alg) => {
    const version = await deps.settingsVersion()
    if (known?.version !== version) known = { version, keys: new Map(), issuers: new Map() }
    const { keys, issuers } = known
    const name = `${issuer.environment} ${issuer.tenantId}`
    const rows = issuers.get(name) ?? (await listKeys(deps.db, issuer))
    issuers.set(name, rows)
    const row = inUseAt(rows, alg, deps.now())
    if (!row) throw new Error('an issuer has a key of each algorithm')
    const { kid, tenantId, salt, sealed } = row
    const key = keys.get(kid) ?? (await importPKCS8(deps.sealer.open(SEALED.oidcKey({ id: kid, tenantId }, salt), sealed), alg))
    keys.set(kid, key)
    return { kid, key }
  }
}

/** Publishes successors a day before they are due, and removes keys a day after their use. */
export async function turnKeys(deps: TurnDeps): Promise<void> {
  const at = deps.now()
  let deleted = 0
  for (const issuer of await listIssuers(deps.db)) {
    const rows = await listKeys(deps.db, issuer)
    const due = ALGS.flatMap(alg => rows.findLast(key => key.alg === alg) ?? []).filter(
      ({ useFrom }) => useFrom + USED_MS - DAY_MS <= at,
    )
    const next = await Promise.all(
      due.map(({ alg, useFrom }) => makeKey(deps, issuer, alg, Math.max(useFrom + USED_MS, at + DAY_MS))),
    )
    const hasOld = rows.some(({ removeAt }) => removeAt !== null && removeAt <= at)
    if (next.length === 0 && !hasOld) continue
    await deps.writeSettings(async tx => {
      deleted += await deleteKeysUntil(tx, at)
      // Somebody may have turned them in between.
      const isLast = (await listKeys(tx, issuer)).filter(({ useUntil }) => useUntil === null).map(({ kid }) => kid)
      const kids: string[] = []
      for (const [i, key] of next.entries()) {
        const old = due[i]!
        if (!isLast.includes(old.kid)) continue
        await insertKey(tx, key)
        await replaceKey(tx, old.kid, { useUntil: key.useFrom, removeAt: key.useFrom + DAY_MS })
        kids.push(key.kid)
      }
      if (kids.length > 0) await record(deps, tx, issuer, { at, actor: 'system', kids })
    })
  }
  // Overwritten in the file; the write-ahead log still has the old bytes until it is emptied.
  if (deleted > 0) await deps.forgetDeleted()
}

/** New keys at once; the old ones stay published for a day, or go with `dropOld`, because they leaked. */
export async function rotateKeys(
  deps: TurnDeps,
  issuer: Issuer,
  { dropOld, actor }: { dropOld: boolean; actor: string },
): Promise<void> {
  if (!(await findIssuer(deps.db, issuer)))
    throw apiError('client_not_found', { message: 'There is no log-in client in this environment yet, and so no key.' })
  const at = deps.now()
  const next = await Promise.all(ALGS.map(alg => makeKey(deps, issuer, alg, at)))
  await deps.writeSettings(async tx => {
    for (const old of await listKeys(tx, issuer)) {
      if (dropOld || old.useFrom > at) await deleteKey(tx, old.kid)
      else if (old.removeAt === null || old.removeAt > at + DAY_MS)
        await replaceKey(tx, old.kid, { useUntil: at, removeAt: at + DAY_MS })
    }
    for (const key of next) await insertKey(tx, key)
    await record(deps, tx, issuer, { at, actor, kids: next.map(({ kid }) => kid), dropOld })
  })
  if (dropOld) await deps.forgetDeleted()
}

type Turned = { at: number; actor: string; kids: string[]; dropOld?: boolean }

async function record({ audit }: Setting, tx: Db, { tenantId, environment }: Issuer, { at, actor, kids, dropOld }: Turned) {
  const details = { environment, kids, ...(dropOld !== undefined && { drop_old: dropOld }) }
  await audit.append(tx, { at, tenantId, actor, action: 'oidc.keys_turned', subjectId: `${tenantId} ${environment}`, details })
}
