// The origins that may ask for a shop's sessions through the browser. Wallets show them, and the operator's certificate
// vouches for them: so they are listed, and compared byte by byte (OpenID4VP 1.0 § A.2).
import type { Setting } from '../audit/deps.ts'
import { isoUtc } from '../base/time.ts'
import type { Configured, Reading } from '../ground.ts'
import { deleteOrigin, hasOrigin, insertOrigin, listOrigins, type OriginRow } from './origin-store.ts'
import { lockTenant, type Owner } from './store.ts'

const ORIGINS_MAX = 20
const ORIGIN_CHARS_MAX = 255
const APP = /^android:apk-key-hash:[\w-]{43}$/
const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]'])

export const isLocalHost = (hostname: string): boolean => LOCAL_HOSTS.has(hostname)

/** The message says why an origin is refused: one sentence with the remedy. */
export class OriginProblem extends Error {
  override name = 'OriginProblem'
}

/** An app of Android. It has no pages: its server asks for it. */
export const isApp = (origin: string): boolean => APP.test(origin)

function refuseBadOrigin(origin: string): void {
  if (isApp(origin)) return
  const url = origin.length <= ORIGIN_CHARS_MAX ? URL.parse(origin) : null
  // URLs may hold a `*`: here it would look like a wildcard, and no browser sends it.
  if (!url || url.origin !== origin || origin.includes('*'))
    throw new OriginProblem(
      'an origin is written https://shop.example, without a path or a slash at its end; an app is written android:apk-key-hash:…',
    )
  const isLocal = url.protocol === 'http:' && isLocalHost(url.hostname)
  if (url.protocol !== 'https:' && !isLocal)
    throw new OriginProblem('browsers ask wallets over https only; plain http works on this machine itself, as http://localhost')
}

/** The service's own pages always may. */
export async function mayAsk({ db, config }: Reading & Configured, owner: Owner, origin: string): Promise<boolean> {
  return origin === URL.parse(config.publicUrl)?.origin || (await hasOrigin(db, owner, origin))
}

export const readOrigins = async ({ db }: Reading, owner: Owner): Promise<OriginRow[]> => await listOrigins(db, owner)

export const presentOrigin = ({ origin, environment, createdAt }: OriginRow) => ({
  origin,
  environment,
  created_at: isoUtc(createdAt),
})

export async function addOrigin(deps: Setting, owner: Owner, origin: string, actor: string): Promise<OriginRow> {
  refuseBadOrigin(origin)
  const { tenantId, environment } = owner
  const at = deps.now()
  const row = { tenantId, environment, origin, createdAt: at }
  await deps.writeSettings(async tx => {
    await lockTenant(tx, tenantId)
    const listed = await listOrigins(tx, owner)
    if (listed.some(known => known.origin === origin)) throw new OriginProblem(`${origin} is listed already`)
    if (listed.length >= ORIGINS_MAX)
      throw new OriginProblem(`at most ${ORIGINS_MAX} origins can be listed; remove one that is not used`)
    await insertOrigin(tx, row)
    const details = { environment, origin }
    await deps.audit.append(tx, { at, tenantId, actor, action: 'origin.added', subjectId: tenantId, details })
  })
  return row
}

/** False when it was not listed. Requests that were made stay valid until their session ends. */
export async function removeOrigin(deps: Setting, owner: Owner, origin: string, actor: string): Promise<boolean> {
  const { tenantId, environment } = owner
  const at = deps.now()
  return await deps.writeSettings(async tx => {
    const wasListed = await deleteOrigin(tx, owner, origin)
    const details = { environment, origin }
    if (wasListed) await deps.audit.append(tx, { at, tenantId, actor, action: 'origin.removed', subjectId: tenantId, details })
    return wasListed
  })
}
