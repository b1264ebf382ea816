// A database of a program from before 0.1.0: its bookkeeping names migrations that this program never had.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { COMMANDS } from '../../src/cli/index.ts'
import { writeErasureLog } from '../../src/verifications/erasure/erasures.ts'
import { startApp, temporaryDir } from '../helpers/app.ts'
import { vidimus as spawnVidimus, stopServing } from '../helpers/cli.ts'
import { vidimus } from '../helpers/command.ts'
import { contentOf, copyOf } from '../helpers/directories.ts'

afterAll(stopServing)

const REFUSAL =
  'vidimus: This database was made before 0.1.0, which cannot read it. Keep the old program for it, or start with a new VIDIMUS_DATA_DIR.\n'
const REFUSED = { exitCode: 30, stdout: '', stderr: REFUSAL }

/** The call of every command that opens a database. */
const CALLS: Record<string, string> = {
  tenant: 'tenant create --name Shop',
  key: 'key list --tenant ten_1',
  device: 'device list --tenant ten_1',
  client: 'client list --tenant ten_1',
  origin: 'origin list --tenant ten_1 --env test',
  'webhook-secret': 'webhook-secret show --tenant ten_1',
  deliveries: 'deliveries list --tenant ten_1',
  listen: 'listen --forward http://localhost:1/',
  template: 'template list --tenant ten_1',
  trust: 'trust list',
  'trust source': 'trust source list',
  'trust bundle': 'trust bundle export OUT',
  'trust status': 'trust status list',
  signing: 'signing show',
  registration: 'registration list',
  user: 'user list',
  doctor: 'doctor',
  audit: 'audit verify',
  backup: 'backup OUT',
  'erase-again': 'erase-again LOG',
  rekey: 'rekey',
  upgrade: 'upgrade',
  move: 'move --to postgres://user@localhost:1/none',
}
const WITHOUT_DATABASE = ['demo', 'tls', 'openapi', 'licences', 'version']
const WITH_TESTS_OF_THEIR_OWN = ['serve', 'restore']

let good: string
let old: string

beforeAll(async () => {
  const app = await startApp({ now: Date.now(), dir: temporaryDir() })
  await app.tenant()
  await app.stop()
  good = app.dir
  old = copyOf(good)
  const sqlite = new Database(join(old, 'vidimus.db'))
  sqlite.run('DELETE FROM schema_migrations')
  for (const id of ['0000_ground', '0001_webhook_lanes', '0002_dashboard'])
    sqlite.query('INSERT INTO schema_migrations (id, sha256, applied_at) VALUES (?, ?, 1)').run(id, `sum of ${id}`)
  sqlite.close()
})

test('the calls below are of every command that opens a database', () => {
  const named = [...Object.keys(CALLS), ...WITHOUT_DATABASE, ...WITH_TESTS_OF_THEIR_OWN]
  expect(named.sort()).toEqual([...COMMANDS.keys()].sort())
})

test.each(Object.values(CALLS))(
  '"%s" refuses a database from before 0.1.0 with exit code 30, and changes no byte',
  async call => {
    const dir = copyOf(old)
    const before = contentOf(dir)
    const files = { OUT: join(temporaryDir(), 'out'), LOG: join(temporaryDir(), 'erasures.log') }
    writeErasureLog(files.LOG, { since: 0, installation: '0'.repeat(64), subjects: new Map() })
    const args = call.split(' ').map(word => files[word as keyof typeof files] ?? word)
    for (const flags of [[], ['--json']]) expect(await vidimus(dir, [...args, ...flags])).toEqual(REFUSED)
    expect(contentOf(dir)).toEqual(before)
    expect(existsSync(files.OUT)).toBe(false)
  },
)

test.each([[['serve']], [['serve', '--json']], [['serve', '--dev']], [['upgrade', '--dry-run', '--json']]])(
  '%p refuses a database from before 0.1.0 with exit code 30, and changes no byte',
  async args => {
    const dir = copyOf(old)
    const before = contentOf(dir)
    expect(await spawnVidimus(dir, args, { PORT: '0' })).toEqual(REFUSED)
    expect(contentOf(dir)).toEqual(before)
  },
)

test.each([[[]], [['--json']]])(
  '"restore" %p refuses a backup from before 0.1.0, and leaves the database in place',
  async flags => {
    const dir = copyOf(good)
    const before = contentOf(dir)
    expect(await vidimus(dir, ['restore', join(old, 'vidimus.db'), ...flags])).toEqual(REFUSED)
    expect(contentOf(dir)).toEqual(before)
  },
)
