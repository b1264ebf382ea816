import { version as ownVersion } from '../../../package.json' with { type: 'json' }
import { REFUSED_MS } from '../../base/unavailable.ts'
import type { DatabaseSettings } from '../database-url.ts'
import type { Leases, Space } from '../engine.ts'
import type { Opened, Opening } from '../opening.ts'
import { createReadiness } from '../readiness.ts'
import { createKey, makeDirectory } from '../root-key.ts'
import { looseEntries } from './audit-ids.ts'
import { runChecks } from './checks.ts'
import { createDatabaseClock, type DatabaseClock, readShownAt } from './clock.ts'
import type { Connect } from './connect.ts'
import { joinNodes, listLiving } from './nodes.ts'
import { createNotices } from './notices.ts'
import { COMMAND_PATIENCE_MS, openDatabase, refuseOldKeys } from './open.ts'
import { createReaders, drizzleOver } from './pool.ts'
import { createSession, type Open } from './session.ts'
import { shortLivedInRows } from './short-lived.ts'
import { createStorage } from './storage.ts'

const NO_LABELS = {}
const LIGHT_CONNECTIONS = 2
const CLOCK_EVERY_MS = 10_000
const BEAT_AGE_MAX_MS = 5000
/** Beats show each second that the database answers; this, that its disk does. */
const PROVEN_MS = 60_000

/** The disk is the database server's. */
const ELSEWHERE: Space = {
  isShort: () => false,
  makeRoom: () => false,
  free: () => Number.POSITIVE_INFINITY,
  hasBallast: () => false,
  look: async () => {},
}

export async function openPostgres(
  { config, now: startedAt, wall, random, role, onWait, stopping }: Opening,
  settings: DatabaseSettings,
): Promise<Opened> {
  const isCommand = role === 'command'
  // A command that only looks must not make it.
  if (!isCommand) makeDirectory(config.dataDir)
  const makeMasterKey = () => {
    makeDirectory(config.dataDir)
    createKey(config.masterKey.file, random, config.dataDir)
  }
  const { connect, node, sealer, isNew, upgraded, version } = await openDatabase({
    settings,
    masterKey: config.masterKey,
    now: startedAt,
    random,
    wall,
    mayMigrate: !isCommand,
    patienceMs: isCommand ? COMMAND_PATIENCE_MS : undefined,
    onWait,
    stopping,
    makeMasterKey,
  })
  const clock = wall && createDatabaseClock(wall, () => performance.now())
  const shownAt = clock ? await startClock(connect, clock) : startedAt
  return {
    sealer,
    isNew,
    isAlone: false,
    wall: clock?.now,
    shownAt,
    upgraded,
    async open({ log, metrics, now }) {
      let hasOldKeys = false
      const storage = createStorage(connect, {
        epoch: sealer.epoch,
        onKeysReplaced() {
          if (!hasOldKeys)
            log.error('database.keys_replaced', { detail: 'restart this node: it can write nothing with its keys' })
          hasOldKeys = true
        },
        onGroup(size, ms) {
          metrics.observe('vidimus_commit_group_size', NO_LABELS, size)
          metrics.observe('vidimus_commit_seconds', NO_LABELS, ms / 1000)
        },
        onStatement: ms => metrics.observe('vidimus_db_statement_seconds', NO_LABELS, ms / 1000),
        onRetry: code => metrics.count('vidimus_db_retries_total', { code }),
        onForeignRow: () => log.error('database.foreign_row'),
      })
      const openLight: Open = onClose => connect.open('light', onClose)
      const nodes = await joinNodes(createSession(openLight), {
        id: node,
        version: ownVersion,
        isServer: !isCommand,
        onTakenOver: timeline =>
          log.warn('database.taken_over', {
            detail: `a standby is the server now (timeline ${timeline}); if it lagged, what was acknowledged last is lost: see "audit verify"`,
          }),
      })
      if (!isCommand) {
        await refuseOldKeys({ connect, sealer, masterKey: config.masterKey, random, makeMasterKey }).catch(async error => {
          connect.close()
          await storage.close()
          await nodes.stop()
          throw error
        })
      }
      const telling = createSession(openLight)
      const light = createReaders(openLight, LIGHT_CONNECTIONS)
      const listNodes = () => listLiving(light)
      const canListen = (settings.prepare || settings.listen !== undefined) && !isCommand
      const notices = await createNotices({
        listen: canListen ? () => connect.open('listen') : undefined,
        session: telling,
        node,
      })
      const following = setInterval(() => void clock?.measure(telling).catch(() => {}), CLOCK_EVERY_MS).unref()
      metrics.gauge(
        'vidimus_clock_offset_seconds',
        "Time by which the database's clock is ahead of this machine's.",
        () => (clock?.offset() ?? 0) / 1000,
      )
      metrics.gauge('vidimus_nodes', 'Nodes of this installation that run now.', async () => (await listNodes()).length)
      metrics.gauge('vidimus_db_pool_busy', 'Connections of this node that are inside a transaction.', storage.busyWriters)
      metrics.gauge('vidimus_db_pool_waiting', 'Transactions that wait for a connection of this node.', storage.waitingWrites)
      const close = async () => {
        clearInterval(following)
        connect.close()
        await storage.close()
        await notices.close()
        await telling.close()
        await light.close()
        await nodes.stop()
      }
      const leases: Leases = {
        holder: node,
        holders: async () => (await listNodes()).map(({ id }) => id),
        begin: nodes.begin,
        isHeld: () => !hasOldKeys && performance.now() - nodes.lastBeatAt() <= BEAT_AGE_MAX_MS,
      }
      // Shorter on a full disk, until a write succeeds.
      const provenMs = () => (storage.lacksRoom() ? REFUSED_MS : PROVEN_MS)
      return {
        engine: {
          ...storage,
          leases,
          isReady: createReadiness({ write: storage.write, leases, space: ELSEWHERE, now, provenMs }),
          looseEntries: looseEntries(),
          publish: notices.publish,
          subscribe: notices.subscribe,
          whenLeader: nodes.whenLeader,
          checks: names =>
            runChecks(
              {
                connect,
                listNodes,
                node,
                isServer: role === 'server',
                setsLimits: settings.prepare,
                dir: config.dataDir,
                masterKey: config.masterKey,
              },
              names,
            ),
          describe: () => ({ name: 'PostgreSQL', version }),
          close,
        },
        space: ELSEWHERE,
        shortLived: shortLivedInRows({ light: drizzleOver(light), node, now, sealer, metrics }),
      }
    },
  }
}

async function startClock(connect: Connect, clock: DatabaseClock): Promise<number> {
  const session = createSession(onClose => connect.open('light', onClose))
  try {
    await clock.measure(session)
    return await readShownAt(session)
  } finally {
    await session.close()
  }
}
