import type { Setting } from '../audit/deps.ts'
import { newWebhookSecret } from '../base/ids.ts'
import { SALT_BYTES } from '../base/seal.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Reading, Remembering, Sealing, Unsealing } from '../ground.ts'
import {
  deleteRetiredSecrets,
  insertWebhookSecret,
  listWebhookSecrets,
  lockTenant,
  type Owner,
  retireWebhookSecret,
  type WebhookSecretRow,
} from './store.ts'

export const OVERLAP_MS = 86_400_000
/** Owners whose secrets are cached. */
const OWNERS_MAX = 1000

/** `previous` also signs, until `validUntil`. */
type WebhookSecrets = { current: string; previous?: { secret: string; validUntil: number } }

export async function readWebhookSecrets(deps: Reading & Unsealing, owner: Owner): Promise<WebhookSecrets | undefined> {
  const [current, previous] = await listWebhookSecrets(deps.db, owner)
  if (!current) return undefined
  const isValid = previous?.validUntil != null && previous.validUntil > deps.now()
  return {
    current: open(deps, current),
    ...(isValid && { previous: { secret: open(deps, previous), validUntil: previous.validUntil! } }),
  }
}

/** The secrets that sign for a tenant at a time, newest first. */
export type SigningSecrets = (owner: Owner, at: number) => Promise<string[]>

export const readSigningSecrets =
  (deps: Reading & Unsealing): SigningSecrets =>
  async (owner, at) =>
    signingAt(await listWebhookSecrets(deps.db, owner), at).map(row => open(deps, row))

/** Caches opened secrets until a setting changes: a rotation applies from the next message on. */
export function rememberSigningSecrets(deps: Unsealing & Remembering): SigningSecrets {
  let known: { version: number; owners: Map<string, WebhookSecretRow[]>; opened: Map<WebhookSecretRow, string> } | undefined
  return async (owner, at) => {
    const version = await deps.settingsVersion()
    if (known?.version !== version || known.owners.size > OWNERS_MAX) known = { version, owners: new Map(), opened: new Map() }
    // The rows belong to the version they were read under.
    const { owners, opened } = known
    const name = `${owner.environment} ${owner.tenantId}`
    const rows = owners.get(name) ?? (await listWebhookSecrets(deps.db, owner))
    owners.set(name, rows)
    return signingAt(rows, at).map(row => {
      const secret = opened.get(row) ?? open(deps, row)
      opened.set(row, secret)
      return secret
    })
  }
}

/** Decided by the clock at each use, not by a sweep. */
function signingAt(rows: WebhookSecretRow[], at: number): WebhookSecretRow[] {
  const signing = rows.filter(row => row.createdAt <= at && (row.validUntil === null || row.validUntil > at))
  // Rotated and the old one dropped since: the new one signs.
  return signing.length > 0 ? signing : rows.slice(0, 1)
}

/** The previous secret signs for 24 more hours; an older one is deleted at once. */
export async function rotateWebhookSecret(
  deps: Sealing & Setting,
  owner: Owner,
  actor: string,
): Promise<{ webhookSecret: string; previousValidUntil: number }> {
  const { tenantId, environment } = owner
  const at = deps.now()
  const webhookSecret = newWebhookSecret(deps.random)
  const row = sealSecret(deps, owner, webhookSecret, at)
  const previousValidUntil = at + OVERLAP_MS
  await deps.writeSettings(async tx => {
    await lockTenant(tx, tenantId)
    await deleteRetiredSecrets(tx, owner)
    await retireWebhookSecret(tx, owner, previousValidUntil)
    await insertWebhookSecret(tx, row)
    await deps.audit.append(tx, { at, tenantId, actor, action: 'secret.rotated', subjectId: tenantId, details: { environment } })
  })
  return { webhookSecret, previousValidUntil }
}

/** The previous secret, which leaked, stops signing at once. False when there is none. */
export async function dropPreviousSecret(deps: Setting, owner: Owner, actor: string): Promise<boolean> {
  const { tenantId, environment } = owner
  const at = deps.now()
  return await deps.writeSettings(async tx => {
    const dropped = await deleteRetiredSecrets(tx, owner)
    if (dropped === 0) return false
    await deps.audit.append(tx, { at, tenantId, actor, action: 'secret.dropped', subjectId: tenantId, details: { environment } })
    return true
  })
}

export function sealSecret({ random, sealer }: Sealing, owner: Owner, secret: string, at: number): Omit<WebhookSecretRow, 'id'> {
  const salt = Buffer.from(random(SALT_BYTES))
  return { ...owner, salt, sealed: sealer.seal(SEALED.webhookSecret(owner, salt), secret), createdAt: at, validUntil: null }
}

const open = ({ sealer }: Unsealing, { salt, sealed, ...owner }: WebhookSecretRow): string =>
  sealer.open(SEALED.webhookSecret(owner, salt), sealed)
