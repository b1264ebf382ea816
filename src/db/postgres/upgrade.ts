import type { DatabaseSettings } from '../database-url.ts'
import { listPending, MIGRATIONS, type Migration, migrate } from './migrate.ts'
import { awaitBeats, listLiving } from './nodes.ts'
import { withOwner, withSession } from './open.ts'
import { grantTo } from './roles.ts'
import type { Session } from './session.ts'

type Upgraded = {
  applied: string[]
  /** Migrations that take something away: only `--finish` applies them. */
  left: string[]
  /** Living nodes of an earlier version, which stopped it from finishing. */
  older: string[]
}

type UpgradeOptions = { now: number; version: string; isFinish: boolean; isDryRun: boolean; migrations?: readonly Migration[] }

/** Works as the owner of the schema. Needs no master key: the first node that serves an empty database makes one. */
export function upgradeServer(settings: DatabaseSettings, wanted: UpgradeOptions): Promise<Upgraded> {
  return withOwner(settings, session => upgrade(session, settings, wanted))
}

async function upgrade(session: Session, settings: DatabaseSettings, wanted: UpgradeOptions): Promise<Upgraded> {
  const { now, version, isFinish, isDryRun, migrations = MIGRATIONS } = wanted
  const pending = await listPending(session, migrations)
  const [expands, contracts] = [idsOf(pending, 'expand'), idsOf(pending, 'contract')]
  const older = isFinish && contracts.length > 0 ? await listOlderNodes(session, version) : []
  const applied = isFinish && older.length === 0 ? [...expands, ...contracts] : expands
  const left = isFinish && older.length === 0 ? [] : contracts
  if (isDryRun || older.length > 0) return { applied: isDryRun ? applied : [], left, older }
  await migrate(session, { now, mayMigrate: true, kinds: isFinish ? ['expand', 'contract'] : ['expand'], migrations })
  if (settings.owner && settings.owner.user !== settings.user) await grantTo(session, settings.user)
  return { applied, left, older }
}

/** The expands that a start would apply. */
export const pendingExpands = (settings: DatabaseSettings): Promise<string[]> =>
  withSession(settings, 'job', async session => idsOf(await listPending(session), 'expand'))

const idsOf = (pending: { id: string; kind: string }[], wanted: string): string[] =>
  pending.flatMap(({ id, kind }) => (kind === wanted ? [id] : []))

async function listOlderNodes(session: Session, version: string): Promise<string[]> {
  const [found] = await session.rows<{ name: string | null }>("SELECT to_regclass('nodes')::text AS name")
  if (!found?.name) return []
  await awaitBeats(session)
  return (await listLiving(session))
    .filter(node => isOlder(node.version, version))
    .map(node => `${node.id} (${node.version || 'unknown'})`)
}

function isOlder(version: string, than: string): boolean {
  return !/^\d/.test(version) || Bun.semver.order(version, than) < 0
}
