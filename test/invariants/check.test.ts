import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { startApp } from '../helpers/app.ts'
import { relinked } from '../helpers/chain.ts'
import { copyOf } from '../helpers/directories.ts'
import { stopReceiving } from '../helpers/receiver.ts'
import type { Ack } from './acks.ts'
import { checkInvariants } from './check.ts'
import { healthyDirectory, PURPOSE } from './healthy.ts'

afterAll(stopReceiving)

const SCRIPT = resolve(import.meta.dir, './check.ts')

let healthy: Awaited<ReturnType<typeof healthyDirectory>>
let acks: Ack[]

beforeAll(async () => {
  healthy = await healthyDirectory()
  const { ids, devices, created } = healthy
  acks = [
    {
      fact: 'created',
      id: ids.completed,
      created_at: created.created_at,
      expires_at: created.expires_at,
      template: 'age_over_18',
    },
    { fact: 'ended', id: ids.completed, status: 'completed', webhook: false },
    { fact: 'redeemed', id: ids.completed },
    { fact: 'ended', id: ids.failed, status: 'failed', webhook: true },
    { fact: 'created', id: ids.pending },
    { fact: 'created', id: ids.erased },
    { fact: 'erased', id: ids.erased },
    { fact: 'enrolled', device: devices.active },
    { fact: 'enrolled', device: devices.revoked },
    { fact: 'revoked', device: devices.revoked },
  ]
})

const check = (dir: string) => checkInvariants(dir, { publicKey: healthy.publicKey })

/** A copy of the healthy directory in which somebody changed something. */
function tampered(...statements: string[]): string {
  const dir = copyOf(healthy.dir)
  const sqlite = new Database(join(dir, 'vidimus.db'))
  for (const statement of statements) sqlite.run(statement)
  sqlite.close()
  return dir
}

describe('a healthy directory', () => {
  test('passes, and what was looked at is counted', async () => {
    const { violations, counts } = await checkInvariants(healthy.dir, { acks, canaries: [PURPOSE], publicKey: healthy.publicKey })
    expect(violations).toEqual([])
    expect(counts).toMatchObject({ sessions: 3, erasures: 1, devices: 3, deliveries: 1, redeemed: 1, acks: 10, signatures: 1 })
  })

  test('passes beside a running service, and nothing in it is changed', async () => {
    const app = await startApp({ dir: copyOf(healthy.dir) })
    expect((await check(app.dir)).violations).toEqual([])
    await app.stop()
  })

  test('the program prints a line for each invariant and exits with 0; with --json one object', () => {
    const run = (...args: string[]) => Bun.spawnSync([process.execPath, SCRIPT, healthy.dir, ...args])
    const plain = run()
    expect([plain.exitCode, plain.stdout.toString().match(/^I\d+ +ok /gm)?.length]).toEqual([0, 12])
    expect(JSON.parse(run('--json').stdout.toString())).toMatchObject({ ok: true })
  })

  test('the program exits with 1 and names what it found, but no whole session id', () => {
    const dir = tampered("UPDATE verification_sessions SET status = 'expired' WHERE responded_at IS NOT NULL")
    const { exitCode, stdout } = Bun.spawnSync([process.execPath, SCRIPT, dir])
    expect([exitCode, stdout.toString()]).toEqual([
      1,
      expect.stringContaining("a session's status, answer and result disagree: vs_"),
    ])
    expect(stdout.toString()).not.toContain(healthy.ids.completed)
  })
})

const FIRST = '(SELECT min(rowid) FROM verification_sessions)'

const TAMPERINGS: Record<string, [string, () => string[]]> = {
  'a session created before the one before it': [
    'I1 created no later',
    () => [`UPDATE verification_sessions SET created_at = created_at + 5000 WHERE rowid = ${FIRST}`],
  ],
  'a session removed by hand': ['I2 usage of', () => [`DELETE FROM verification_sessions WHERE id = '${healthy.ids.pending}'`]],
  'a creation that was not charged': [
    'I2 usage of',
    () => ['UPDATE usage_days SET verifications_created = verifications_created - 1'],
  ],
  'a quota that was exceeded': ['I2 more than the quota', () => ['UPDATE tenants SET daily_quota = 1']],
  'a pairing code that can be used again': [
    'I3 a code and its device disagree',
    () => [`UPDATE device_tokens SET spent_at = NULL WHERE kind = 'pairing' AND device_id = '${healthy.devices.active}'`],
  ],
  'a second message for one session': [
    'I4 two messages',
    () => [
      `INSERT INTO webhook_deliveries SELECT 'whd_2', tenant_id, verification_id, type, status, attempts, due_at, lease_until, created_at, receiver, request_id, environment, leased_by FROM webhook_deliveries`,
    ],
  ],
  'a message that tells of another end': [
    'I4 a message that is not',
    () => ["UPDATE webhook_deliveries SET type = 'verification.completed'"],
  ],
  'an attempt that was not logged': ['I4 an attempt that is not', () => ['DELETE FROM webhook_attempts']],
  'a delivery that no attempt made': ['I4 delivered, but', () => ["UPDATE webhook_attempts SET outcome = 'timeout'"]],
  'a lease on what has ended': ['I4 ended, but', () => ['UPDATE webhook_deliveries SET lease_until = 1']],
  'a record that was changed': ["I5 a record's hash", () => ["UPDATE audit_records SET actor = 'nobody' WHERE seq = 3"]],
  'a record that was removed': ['I5 a record is missing', () => ['DELETE FROM audit_records WHERE seq = 4']],
  'a record whose details were removed': [
    'I5 details are gone',
    () => ['UPDATE audit_records SET salt = NULL, sealed = NULL WHERE seq = 1'],
  ],
  'an erasure that left details': [
    'I5 an erasure left details',
    () => [
      `UPDATE audit_records SET salt = x'00', sealed = x'00' WHERE action = 'verification.created'
         AND subject = (SELECT subject FROM audit_records WHERE action = 'verification.erased')`,
    ],
  ],
  'a tail that was cut off under a checkpoint': [
    'I5 a signed checkpoint names',
    () => [`DELETE FROM audit_records WHERE seq >= ${healthy.signedAt}`],
  ],
  'a checkpoint that nobody signed': ["I5 a checkpoint's signature", () => ['UPDATE audit_checkpoints SET at = at + 1']],
  'one key with two sessions': [
    'I6 one key made two',
    () => [`UPDATE verification_sessions SET idempotency_hash = (SELECT hash FROM idempotency_keys)`],
  ],
  'a kept answer whose session is gone': [
    'I6 an answer is kept',
    () => ['UPDATE verification_sessions SET idempotency_hash = NULL'],
  ],
  'an answer that was lost': ['I6 the answer of a live', () => ['UPDATE idempotency_keys SET salt = NULL, sealed = NULL']],
  'two unspent refresh tokens': [
    'I7 a device with two unspent',
    () => [`UPDATE device_tokens SET spent_at = NULL WHERE kind = 'refresh' AND device_id = '${healthy.devices.active}'`],
  ],
  'a revoked device with a token': ['I7 a revoked device', () => ['UPDATE device_tokens SET revoked_at = NULL']],
  'a token spent for nothing': [
    'I7 a token was spent',
    () => [`DELETE FROM device_tokens WHERE hash = '${healthy.hashOfRefresh}'`],
  ],
  'a redemption that came too late': [
    'I8 redeemed without',
    () => ['UPDATE verification_sessions SET redeemed_at = response_code_expires_at'],
  ],
  'a code of a session nobody answered': [
    'I8 a code without an answer',
    () => [`UPDATE verification_sessions SET response_code_hash = 'aa' WHERE id = '${healthy.ids.pending}'`],
  ],
  'an ended session that is pending again': [
    'I9 held, but not to be',
    () => ["UPDATE verification_sessions SET status = 'pending' WHERE status = 'completed'"],
  ],
  'an answer past the deadline': [
    'I9 answered before',
    () => ['UPDATE verification_sessions SET responded_at = expires_at WHERE responded_at IS NOT NULL'],
  ],
  'a key to an answer that came': [
    'I9 an ended session still has the key to',
    () => ["UPDATE verification_sessions SET sealed_response_key = x'00' WHERE status = 'failed'"],
  ],
  'keys of pages after the answer came': [
    'I9 an ended session still has the keys of',
    () => ["UPDATE verification_sessions SET sealed_dc_requests = x'00' WHERE status = 'failed'"],
  ],
  'keys for a phone after the answer came': [
    'I9 an ended session still has the keys for',
    () => ["UPDATE verification_sessions SET sealed_in_person = x'00' WHERE status = 'failed'"],
  ],
  'a result whose session is gone': [
    'I10 a reference leads nowhere',
    () => [`DELETE FROM verification_sessions WHERE id = '${healthy.ids.completed}'`],
  ],
  'an end that was not counted': ['I12 completed of', () => ["DELETE FROM outcome_days WHERE outcome = 'completed'"]],
  'a creation that was counted twice': [
    'I12 created of',
    () => ["UPDATE outcome_days SET count = count + 2 WHERE outcome = 'created'"],
  ],
  'an answer whose time was not counted': ['I12 answered of', () => ['DELETE FROM answer_time_days']],
  'a search term that an erasure forgot': [
    'I11 a search term of no session',
    () => [`DELETE FROM verification_sessions WHERE id = '${healthy.ids.pending}'`],
  ],
  'what an erasure forgot': ['I11 an attempt of no message', () => ['DELETE FROM webhook_deliveries']],
}

describe('the check finds', () => {
  test.each(Object.keys(TAMPERINGS))('%s', async name => {
    const [violation, statements] = TAMPERINGS[name]!
    const { violations } = await check(tampered(...statements()))
    expect(violations.filter(each => each.startsWith(violation)).length).toBeGreaterThan(0)
  })

  test('a chain that was rewritten from one record on, with every hash made to fit: it differs from its checkpoint', async () => {
    const dir = tampered()
    const sqlite = new Database(join(dir, 'vidimus.db'))
    const stored = sqlite
      .query<Record<string, never>, []>('SELECT *, tenant_id AS tenantId FROM audit_records ORDER BY seq')
      .all()
    const rewritten = relinked(stored.map((record, i) => ({ ...record, actor: i === 2 ? 'nobody' : record.actor }) as never))
    for (const { seq, actor, previous, hash } of rewritten as { seq: number; actor: string; previous: string; hash: string }[])
      sqlite.query('UPDATE audit_records SET actor = ?, previous = ?, hash = ? WHERE seq = ?').run(actor, previous, hash, seq)
    sqlite.close()
    expect((await check(dir)).violations).toEqual([`I5 a record differs from its signed checkpoint: record ${healthy.signedAt}`])
  })

  test('a damaged page', async () => {
    const dir = tampered()
    const file = join(dir, 'vidimus.db')
    const sqlite = new Database(file)
    const { rootpage } = sqlite
      .query<{ rootpage: number }, []>("SELECT rootpage FROM sqlite_schema WHERE name = 'verification_sessions'")
      .get()!
    sqlite.close()
    const content = readFileSync(file)
    const page = (rootpage - 1) * 4096
    content.fill(0xff, page, page + 200)
    writeFileSync(file, content)
    const found = await check(dir).then(
      ({ violations }) => violations.join(),
      (error: Error) => error.message,
    )
    expect(found).toMatch(/quick_check|malformed/)
  })

  test('an erasure that a restore would not be told of', async () => {
    const dir = tampered()
    writeFileSync(join(dir, 'backups/erasures.log'), `vidimus erasures since 0 of ${'0'.repeat(64)}\n`)
    expect((await check(dir)).violations).toEqual([expect.stringContaining('I11 an erasure is not in the log')])
    rmSync(join(dir, 'backups/erasures.log'))
    expect((await check(dir)).violations).toEqual([expect.stringContaining('and no log of them')])
  })

  test('a canary in any file', async () => {
    const dir = tampered()
    appendFileSync(join(dir, 'crash.txt'), `asked: ${PURPOSE}`)
    const { violations } = await checkInvariants(dir, { canaries: [PURPOSE] })
    expect(violations).toEqual(['I11 canary 1 is in crash.txt'])
  })
})

describe('answers that clients were given', () => {
  const told = async (...more: Ack[]) => (await checkInvariants(healthy.dir, { acks: [...acks, ...more] })).violations
  const one = (text: string) => [expect.stringContaining(text)]

  test('a creation that is not there, or is there otherwise, is found', async () => {
    expect(await told({ fact: 'created', id: 'vs_neverthere' })).toEqual(one('I1 an acknowledged session is not there'))
    expect(await told({ fact: 'created', id: 'vs_neverthere' }, { fact: 'erasing', id: 'vs_neverthere' })).toEqual([])
    expect(await told({ fact: 'created', id: healthy.ids.pending, template: 'other' })).toEqual(one('I1 a session differs'))
  })

  test('an erased session that is there is found', async () => {
    expect(await told({ fact: 'erased', id: healthy.ids.failed })).toEqual(one('I1 an erased session is there'))
  })

  test('a terminal state that changed, and a message that is missing, are found', async () => {
    expect(await told({ fact: 'ended', id: healthy.ids.failed, status: 'completed' })).toEqual(
      one('that was completed is failed'),
    )
    expect(await told({ fact: 'ended', id: healthy.ids.completed, status: 'completed', webhook: true })).toEqual(
      one('0 messages'),
    )
  })

  test('a second redemption, a second enrolment and a revocation that was lost are found', async () => {
    expect(await told({ fact: 'redeemed', id: healthy.ids.completed })).toEqual(one('redeemed twice'))
    expect(await told({ fact: 'redeemed', id: healthy.ids.failed })).toEqual(one('a redemption is not there'))
    expect(await told({ fact: 'enrolled', device: healthy.devices.active })).toEqual(one('two clients were told'))
    expect(await told({ fact: 'enrolled', device: healthy.devices.waiting })).toEqual(one('that was enrolled is pending'))
    expect(await told({ fact: 'revoked', device: healthy.devices.active })).toEqual(one('that was revoked is active'))
  })
})

test('the checker shares no code with the service: it imports only itself, bun:sqlite and node', async () => {
  const seen = new Set<string>()
  const foreign = new Set<string>()
  const read = async (file: string): Promise<void> => {
    if (seen.has(file)) return
    seen.add(file)
    for (const [, specifier = ''] of (await Bun.file(file).text()).matchAll(/(?:from|import\()\s*'([^']+)'/g)) {
      if (specifier.startsWith('.')) await read(resolve(dirname(file), specifier))
      else if (specifier !== 'bun:sqlite' && !specifier.startsWith('node:')) foreign.add(specifier)
    }
  }
  await read(SCRIPT)
  expect([...foreign]).toEqual([])
  expect([...seen].filter(file => !file.startsWith(dirname(SCRIPT)))).toEqual([])
  expect(seen.size).toBeGreaterThan(5)
})
