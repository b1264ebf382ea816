// Every statement of every store, held against the parser of the engine that the tests run on.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { Db } from '../../src/db/engine.ts'
import { drizzleOver } from '../../src/db/postgres/pool.ts'
import { startApp } from '../helpers/app.ts'
import { isOnPostgres, rowsOf } from '../helpers/database.ts'

const SRC = resolve(import.meta.dir, '../../src')

/** A function that loops until nothing is found finds nothing after so many statements. */
const STATEMENTS_MAX = 8

type Verb = (db: Db, ...args: unknown[]) => unknown

const OWNER = { tenantId: 'ten_1', environment: 'test' }
const TERMED = { id: 'vs_1', tenantId: 'ten_1', createdAt: 1, terms: Buffer.alloc(32) }

/** Arguments that any value cannot stand for: numbers in the text of a statement, and objects that are spread. */
const ARGUMENTS: Record<string, unknown[]> = {
  'access/store.ts markKeyRolled': ['key_1', { expiresAt: 1, successorId: 'key_2' }],
  'guesses/store.ts updateGuesses': [{ network: 'n', failedAt: [1], lockedUntil: 1, forgetAt: 1 }],
  'alerts/store.ts keepLastMail': ['{}'],
  'audit/link-store.ts insertLinks': [[{ seq: 1, entry_id: 1, previous: '', hash: '' }]],
  'audit/store.ts listEntries': [1, 5],
  'audit/store.ts listRecords': [1, 5],
  'audit/store.ts listSealedEntries': [1, 5],
  'audit/store.ts updateDetails': [1, Buffer.alloc(1)],
  'devices/store.ts deleteTokensExpiredBy': [1, 5],
  'verifications/event-store.ts listNewest': ['in_person_failed', { among: 5, limit: 5 }],
  'devices/store.ts listReused': [OWNER, 1, 5],
  'devices/store.ts updateDevice': [
    { deviceId: 'dev_1', tenantId: 'ten_1' },
    { name: 'Till 1', allowedTemplates: ['age_over_18'], ways: null },
  ],
  'oidc/client-store.ts updateClient': [{ id: 'oc_1', name: 'Shop' }],
  'oidc/key-store.ts replaceKey': ['kid', { useUntil: 1, removeAt: 1 }],
  'people/log-in/sign-in-store.ts listSignIns': [{ userId: 'usr_1', before: 1, limit: 5 }],
  'people/log-in/sign-in-store.ts listSignInsAfter': [1, 5],
  'people/store.ts updateFailures': [{ account: 'a', network: 'n', failures: 1, lockedUntil: 1 }],
  'session-keys/store.ts lockKeyedSessions': ['vs_1', 5],
  'session-keys/store.ts updateWrappingKey': [1, { activeAt: 1 }],
  'tenants/look-store.ts upsertLook': ['ten_1', { accent: '#1f4fd8', updatedAt: 1 }],
  'tenants/store.ts recordFirst': [OWNER, 1],
  'tenants/store.ts updateTenant': ['ten_1', { name: 'Shop' }],
  'tenants/store.ts upsertEndpoint': [{ ...OWNER, salt: Buffer.alloc(1), sealed: Buffer.alloc(1), createdAt: 1 }],
  'trust/lists/source-store.ts deleteAnchors': [['ta_1']],
  'trust/lists/source-store.ts insertAnchors': [[{ id: 'ta_1', environment: 'test' }]],
  'trust/lists/source-store.ts saveList': ['src_1', Buffer.alloc(1)],
  'trust/lists/source-store.ts updateSource': ['src_1', { label: 'List' }],
  'upkeep/store.ts keepProgress': ['place'],
  'usage/outcome-store.ts listSources': [{ ...OWNER, day: '2026-03-01' }, 'deviceId'],
  'usage/store.ts listUsageDays': ['ten_1', 5],
  'verifications/end/answer-store.ts dateResult': [
    { id: 'vs_1', tenantId: 'ten_1' },
    { createdAt: 1, auditSeq: 1 },
  ],
  'verifications/browse/browse-store.ts findReach': [OWNER, { name: 'key', value: 'key_1' }, 'few', { from: 1, before: 2 }],
  'verifications/browse/browse-store.ts countOutlines': [
    OWNER,
    { name: 'beginning' },
    { sought: { whole: [Buffer.alloc(16)], words: [[Buffer.alloc(4)]] }, status: 'expired', at: 1 },
    { from: 1, before: 2, limit: 5 },
  ],
  'verifications/browse/browse-store.ts listOutlines': [
    OWNER,
    { name: 'status', value: 'pending' },
    { sought: { whole: [Buffer.alloc(16)], words: [[Buffer.alloc(4)]] }, key: 'key_1', status: 'failed', at: 1 },
    { from: 1, before: 2, limit: 5 },
  ],
  'verifications/event-store.ts listEvents': [{ id: 'vs_1', tenantId: 'ten_1' }, 5],
  'verifications/rekey/sealed-store.ts renameReplay': ['hash', { hash: 'other', sealed: Buffer.alloc(1) }],
  'verifications/rekey/sealed-store.ts updateSession': [
    { id: 'vs_1', tenantId: 'ten_1' },
    { wrappingKey: 1, sealed: Buffer.alloc(1), sealedResponseKey: null },
  ],
  'verifications/term-store.ts deleteTerms': [TERMED],
  'verifications/term-store.ts insertTerms': [TERMED],
  'verifications/erasure/store.ts listEndedLogins': [1, 5],
  'verifications/erasure/store.ts listEnded': ['ten_1', 1, 5],
  'verifications/store.ts listEndedSince': ['ten_1', 1, 5],
  'verifications/store.ts listKeys': ['vs_1', 5],
  'verifications/store.ts listVerifications': [OWNER, { before: 1, limit: 5 }],
  'verifications/end/end-store.ts markExpired': [1, 5],
  'verifications/end/end-store.ts markOverdue': [1, 5],
  'webhooks/log-store.ts listLatest': ['ten_1', 5],
  'webhooks/lease-store.ts listLostLeases': ['holder', 1],
  'webhooks/log-store.ts restartFailed': [OWNER, { dueAt: 1, requestId: 'req_1' }, 5],
}

/** The links of the chain. */
const ONLY_POSTGRES = /^audit\/link-store\.ts /
/** On PostgreSQL a record is an entry and a link. */
const ONLY_SQLITE = /^audit\/store\.ts insertRecord$/

const OF_ARRAYS = new Set<string | symbol>(['map', 'filter', 'length', Symbol.iterator, 'flatMap', 'forEach', '0'])

const NUMBERS = new Set<string | symbol>(['limit', 'lookedAtMax', 'since', 'latest', 'before'])

/** Stands for any value: an object with every field, a list of one, a text, a number. */
const anything: unknown = new Proxy([] as unknown[], {
  get(list, name) {
    if (list.length === 0) list.push(anything)
    if (name === Symbol.toPrimitive) return () => '1'
    if (name === 'toJSON') return () => 1
    if (name === 'then' || name === 'constructor') return undefined
    if (NUMBERS.has(name)) return 4
    return OF_ARRAYS.has(name) ? Reflect.get(list, name) : anything
  },
  has: () => true,
})

/** A database that records statements and finds one row of anything. */
function recorder(statements: string[]): Db {
  const answer = (text: string) => (statements.push(text) > STATEMENTS_MAX ? [] : [anything])
  if (isOnPostgres) {
    const run = async (text: string) => answer(text)
    return drizzleOver({ rows: run, values: run } as Parameters<typeof drizzleOver>[0])
  }
  const prepare = (text: string) => {
    const found = answer(text)
    return { all: () => found, values: () => found, get: () => found[0], run: () => ({ changes: 1 }) }
  }
  return drizzle({ prepare } as unknown as Database) as unknown as Db
}

async function statementsOf(verb: Verb, args: unknown[]): Promise<string[]> {
  const statements: string[] = []
  try {
    await verb(recorder(statements), ...args)
  } catch {
    // What it makes of a made-up row is no matter here.
  }
  return [...new Set(statements)]
}

const files = [...new Bun.Glob('*/{*-store,store}.ts').scanSync({ cwd: SRC })].sort()

test.each(files)('every statement of %s is accepted by the database', async file => {
  const app = await startApp()
  const problems: string[] = []
  const verbs = Object.entries((await import(join(SRC, file))) as Record<string, unknown>).filter(
    (entry): entry is [string, Verb] => typeof entry[1] === 'function',
  )
  for (const [name, verb] of verbs) {
    const place = `${file} ${name}`
    if ((isOnPostgres ? ONLY_SQLITE : ONLY_POSTGRES).test(place)) continue
    const args = ARGUMENTS[place] ?? Array(5).fill(anything)
    const statements = await statementsOf(verb, args)
    if (statements.length === 0) problems.push(`${name} makes no statement`)
    for (const text of statements) {
      const problem = refusal(app.dir, text)
      if (problem) problems.push(`${name}: ${problem}`)
    }
  }
  expect(verbs.length).toBeGreaterThan(0)
  expect(problems).toEqual([])
})

/** Parsed, not run. */
function refusal(dir: string, text: string): string | undefined {
  try {
    if (isOnPostgres) rowsOf(dir, `PREPARE parsed AS ${text}`)
    else withFile(dir, file => void file.prepare(text))
    return undefined
  } catch (error) {
    return `${(error as Error).message} in ${text}`
  } finally {
    if (isOnPostgres) rowsOf(dir, 'DEALLOCATE ALL')
  }
}

function withFile(dir: string, act: (file: Database) => void): void {
  const file = new Database(join(dir, 'vidimus.db'), { readonly: true })
  try {
    act(file)
  } finally {
    file.close()
  }
}
