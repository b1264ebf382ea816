// F34: a change of the file is found at the changed record. Titles that begin with "limit" state what the chain cannot show.
import { beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync, sign as signText } from 'node:crypto'
import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { exportAudit, verifyExport } from '../../src/audit/export.ts'
import { type AuditVerdict, verifyAudit } from '../../src/audit/verify.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import { createVerification, temporaryDir } from '../helpers/app.ts'
import { auditedApp, sign, withCommand } from '../helpers/audited.ts'
import { checkpointTextOf, type ExportHeading, type ExportLine, hashOf, relinked } from '../helpers/chain.ts'
import { vidimus } from '../helpers/cli.ts'
import { copyDatabase, dropDatabase, isOnPostgres, rowsOf } from '../helpers/database.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { filesContaining } from '../helpers/files.ts'
import {
  CHANGES,
  flippedHex,
  isDisclosed,
  type Row,
  recordsIn,
  replaceAll,
  type Tampered,
  tamperWith,
} from '../helpers/tampering.ts'

const REPLAY_OF = `SELECT salt, sealed FROM idempotency_keys
  WHERE hash = (SELECT idempotency_hash FROM verification_sessions WHERE id = ?)`

let dir: string
let records: Row[]
/** The only checkpoint covers this record; about as many records follow it. */
let signed: number
let last: number

beforeAll(async () => {
  const { app, checkpointAt } = await auditedApp()
  await app.stop()
  dir = app.dir
  signed = checkpointAt
  // As after a kill: a clean stop would sign the rest.
  tamperWith(dir, db => db.run('DELETE FROM audit_checkpoints WHERE seq > ?', [signed]))
  records = recordsIn(dir)
  last = records.length
})

/** The verdict on a copy of the installation after its file was changed. */
async function verdictAfter(tamper: (db: Tampered) => void): Promise<AuditVerdict> {
  return await onCopyOf(dir, async copy => {
    tamperWith(copy, tamper)
    return await withCommand(copy, verifyAudit)
  })
}

async function onCopyOf<T>(original: string, act: (copy: string) => Promise<T>): Promise<T> {
  const copy = temporaryDir()
  try {
    cpSync(original, copy, { recursive: true })
    await copyDatabase(original, copy)
    return await act(copy)
  } finally {
    await dropDatabase(copy)
    rmSync(copy, { recursive: true })
  }
}

const problemAfter = async (tamper: (db: Tampered) => void) => (await verdictAfter(tamper)).problem

/** Records with details in both halves: the first, the signed one, the last, and some between. A copy costs more on PostgreSQL: two. */
const places = (): Row[] => {
  const disclosed = records.filter(isDisclosed)
  const wanted = isOnPostgres ? [2, signed + 1] : [1, 2, Math.floor(signed / 2), signed, signed + 1, signed + 3, last]
  const seqs = new Set(wanted.map(seq => disclosed.find(each => each.seq >= seq)?.seq ?? disclosed.at(-1)?.seq))
  return disclosed.filter(({ seq }) => seqs.has(seq))
}

test('the fixture is a valid chain of all kinds of records, signed in the middle', async () => {
  const verdict = await withCommand(dir, verifyAudit)
  expect(verdict).toEqual({
    count: last,
    head: records.at(-1)?.hash ?? '',
    signedTo: signed,
    publicKey: expect.any(String),
    problem: undefined,
  })
  expect(last).toBeGreaterThanOrEqual(38)
  expect(signed).toBeGreaterThan(15)
  expect(last - signed).toBeGreaterThan(15)
  expect(new Set(records.map(({ action }) => action)).size).toBe(9)
  expect(places().length).toBeGreaterThanOrEqual(isOnPostgres ? 2 : 6)
})

describe('a field changed in the file is found at its record', () => {
  test.each(Object.entries(CHANGES))('%s', async (_, change) => {
    for (const row of places()) {
      const changed = records.map(each => (each.seq === row.seq ? { ...each, ...change(row) } : each))
      expect(changed).not.toEqual(records)
      // A record moved to the front is the first fault.
      const at = change(row).seq === 0 ? 1 : row.seq
      expect(await problemAfter(db => replaceAll(db, changed))).toEqual({ seq: at, problem: expect.any(String) })
    }
  })

  test('details and salt removed together without a record of an erasure are found', async () => {
    for (const row of places()) {
      const problem = await problemAfter(db =>
        db.run('UPDATE audit_records SET salt = NULL, sealed = NULL WHERE seq = ?', [row.seq]),
      )
      expect(problem).toEqual({ seq: row.seq, problem: expect.stringMatching(/details are gone/) })
    }
  })

  test('details of another record, copied over others or to an erased one, are found', async () => {
    const [donor] = places()
    const { salt = null, sealed = null } = donor ?? {}
    const erased = records.find(row => !isDisclosed(row) && row.action === 'verification.created')
    for (const [seq = 0, gift] of [
      [places().at(-1)?.seq, { salt, sealed }],
      [erased?.seq, { salt, sealed }],
      [erased?.seq, { salt }],
      [erased?.seq, { sealed }],
    ] as const) {
      const changed = records.with(seq - 1, { ...(records[seq - 1] as Row), ...gift })
      expect(await problemAfter(db => replaceAll(db, changed))).toEqual({ seq, problem: 'its details were changed' })
    }
  })
})

describe('records that are dropped, swapped or inserted are found where it happened', () => {
  test('a dropped record is found', async () => {
    for (const seq of [1, 2, signed - 1, signed, signed + 1, last - 1])
      expect(await problemAfter(db => db.run('DELETE FROM audit_records WHERE seq = ?', [seq]))).toEqual({
        seq,
        problem: 'it is missing or out of order',
      })
  })

  test('a dropped record is found although the rest is renumbered', async () => {
    for (const seq of [1, 5, signed, signed + 1, last - 1]) {
      const without = records.filter(each => each.seq !== seq).map((each, i) => ({ ...each, seq: i + 1 }))
      expect(await problemAfter(db => replaceAll(db, without))).toEqual({ seq, problem: expect.any(String) })
    }
  })

  test('two swapped records are found', async () => {
    for (const [a, b] of [
      [1, 2],
      [3, signed],
      [signed, signed + 1],
      [last - 1, last],
    ] as const) {
      const swapped = records.map(each => (each.seq === a ? { ...each, seq: b } : each.seq === b ? { ...each, seq: a } : each))
      expect(await problemAfter(db => replaceAll(db, swapped))).toEqual({ seq: a, problem: expect.any(String) })
    }
  })

  test('a replaced record with a matching hash is found at the next record', async () => {
    for (const seq of [1, 5, signed - 1, signed + 1, last - 1]) {
      const bare = { ...(records[seq - 1] as Row), actor: 'somebody else' }
      const forged = { ...bare, hash: hashOf(bare) }
      expect(await problemAfter(db => replaceAll(db, records.with(seq - 1, forged)))).toEqual({
        seq: seq + 1,
        problem: 'it does not follow the record before it',
      })
    }
  })

  test('an inserted record is found', async () => {
    const forged = { ...records[3], action: 'key.created' } as Row
    expect(await problemAfter(db => replaceAll(db, [{ ...forged, seq: -7 }, ...records]))).toMatchObject({ seq: 1 })
    for (const seq of [1, 5, signed, signed + 1, last + 1]) {
      const inserted = records.toSpliced(seq - 1, 0, forged).map((each, i) => ({ ...each, seq: i + 1 }))
      expect(await problemAfter(db => replaceAll(db, inserted))).toEqual({ seq, problem: expect.any(String) })
    }
  })

  test('an inserted record with a matching hash is found', async () => {
    for (const seq of [1, 5, signed, last]) {
      const previous = records[seq - 2]?.hash ?? '0'.repeat(64)
      const bare = { ...(records[3] as Row), seq, previous, salt: null, sealed: null }
      const forged = { ...bare, hash: hashOf(bare) }
      const inserted = records.toSpliced(seq - 1, 0, forged).map((each, i) => ({ ...each, seq: i + 1 }))
      const { problem } = await verdictAfter(db => replaceAll(db, inserted))
      expect(problem).toEqual({ seq: seq === signed ? signed : seq + 1, problem: expect.any(String) })
    }
  })
})

describe('a signed checkpoint fixes everything before it', () => {
  test('a tail cut below the checkpoint is found', async () => {
    for (const from of [signed, signed - 1, 2, 1])
      expect(await problemAfter(db => db.run('DELETE FROM audit_records WHERE seq >= ?', [from]))).toEqual({
        seq: signed,
        problem: 'a signed checkpoint names it, but it is not there',
      })
  })

  test('a rewritten record with all later hashes recomputed is found at the checkpoint', async () => {
    for (const seq of [1, 5, signed]) {
      const rewritten = relinked(records.map(each => (each.seq === seq ? { ...each, actor: 'somebody else' } : each)))
      expect(await problemAfter(db => replaceAll(db, rewritten))).toEqual({
        seq: signed,
        problem: 'it differs from the signed checkpoint',
      })
    }
  })

  test('a checkpoint changed to fit a rewritten chain fails its signature', async () => {
    const rewritten = relinked(records.map(each => (each.seq === 5 ? { ...each, actor: 'somebody else' } : each)))
    const problem = await problemAfter(db => {
      replaceAll(db, rewritten)
      db.run('UPDATE audit_checkpoints SET hash = ?', [rewritten[signed - 1]?.hash ?? ''])
    })
    expect(problem).toEqual({ seq: signed, problem: 'the signature of its checkpoint is not valid' })
  })

  test('the signature covers each field of the checkpoint', async () => {
    for (const change of [
      'at = at + 1',
      'at = 9000000000000000',
      "signature = CASE WHEN signature LIKE 'A%' THEN 'B' ELSE 'A' END || substr(signature, 2)",
      "hash = 'f' || hash",
    ])
      expect(await problemAfter(db => db.run(`UPDATE audit_checkpoints SET ${change}`))).toMatchObject({ seq: signed })
    const moved = (seq: number) => problemAfter(db => db.run('UPDATE audit_checkpoints SET seq = ?', [seq]))
    expect(await moved(signed - 1)).toMatchObject({ seq: signed - 1 })
    expect(await moved(last + 1)).toMatchObject({ seq: last + 1 })
  })

  test('records added after the tail was cut below a checkpoint do not hide the cut', async () => {
    const verdict = await onCopyOf(dir, async copy => {
      tamperWith(copy, db => db.run('DELETE FROM audit_records WHERE seq >= ?', [signed - 1]))
      return await withCommand(copy, async deps => {
        for (const name of ['one', 'two', 'three', 'four']) await createTenant(deps, { name }, 'test')
        return await verifyAudit(deps)
      })
    })
    expect(verdict.problem).toEqual({ seq: signed, problem: 'it differs from the signed checkpoint' })
  })

  test('an erasure record cut off above the checkpoint is found: the missing details are unexplained', async () => {
    const erasure = records.findLast(({ action }) => action === 'verification.erased')
    const subject = records.find(each => each.subject === erasure?.subject)
    const problem = await problemAfter(db => db.run('DELETE FROM audit_records WHERE seq >= ?', [erasure?.seq ?? 0]))
    expect(problem).toEqual({ seq: subject?.seq ?? 0, problem: expect.stringMatching(/details are gone/) })
  })

  test('limit: a tail cut above the last checkpoint cannot be detected from the file alone', async () => {
    for (const from of [signed + 1, last]) {
      const verdict = await verdictAfter(db => db.run('DELETE FROM audit_records WHERE seq >= ?', [from]))
      expect(verdict).toMatchObject({ count: from - 1, signedTo: signed, problem: undefined })
    }
  })

  test('limit: records rewritten above the last checkpoint cannot be detected from the file alone', async () => {
    const rewritten = relinked(records.map(each => (each.seq > signed ? { ...each, actor: 'somebody else' } : each)))
    const verdict = await verdictAfter(db => replaceAll(db, rewritten))
    expect(verdict).toMatchObject({ count: last, signedTo: signed, problem: undefined })
  })

  test('limit: a file cut back with its checkpoints is a valid older one; only an export kept elsewhere shows it', async () => {
    const kept = await exportedFrom(dir)
    const verdict = await verdictAfter(db => {
      db.run('DELETE FROM audit_records WHERE seq >= 10')
      db.run('DELETE FROM audit_checkpoints')
    })
    expect(verdict).toMatchObject({ count: 9, signedTo: 0, problem: undefined })
    expect(await verifyLines(kept)).toMatchObject({ count: last, publicKey: verdict.publicKey, problem: undefined })
  })
})

describe('erasing a verification', () => {
  sqliteOnly('PostgreSQL keeps deleted rows in its files for a while')(
    'an erased verification leaves a valid chain, and its text, id and sealed form in no file',
    async () => {
      const { app, shop } = await auditedApp()
      const before = recordsIn(app.dir).length
      const purpose = 'To rent the yacht Canary III'
      const metadata = { berth: 'canary-berth-4711' }
      const headers = { 'idempotency-key': 'canary-key-0815' }
      const body = { template: 'age_over_18', purpose, metadata }
      const created = await app.call<{ id: string }>('POST', '/v1/verifications', { key: shop.key, body, headers })
      const { id } = created.body
      // The neighbour must be found, which proves that the search works.
      const neighbour = await createVerification(app, shop.key, body)
      const sealed = [
        ...rowsOf<Row>(app, 'SELECT salt, sealed FROM audit_records WHERE seq = ?', before + 1),
        ...rowsOf<Row>(app, 'SELECT salt, sealed FROM verification_sessions WHERE id = ?', id),
        ...rowsOf<Row>(app, REPLAY_OF, id),
      ]
      expect(sealed).toHaveLength(3)
      const traces = sealed.flatMap(row => [row.salt ?? new Uint8Array(0), row.sealed ?? new Uint8Array(0)])
      for (const trace of [id, ...traces]) expect(filesContaining(app.dir, trace)).not.toEqual([])
      for (const text of [purpose, metadata.berth]) expect(filesContaining(app.dir, text)).toEqual([])

      const erased = await app.call('DELETE', `/v1/verifications/${id}`, { key: shop.key })
      expect(erased.status).toBe(200)

      for (const trace of [id, purpose, metadata.berth, ...traces]) expect(filesContaining(app.dir, trace)).toEqual([])
      expect(filesContaining(app.dir, neighbour.id)).not.toEqual([])
      expect(await verifyAudit(app.deps)).toMatchObject({ count: before + 3, problem: undefined })
      const [record, , erasure] = recordsIn(app.dir).slice(-3)
      expect(record).toMatchObject({ action: 'verification.created', salt: null, sealed: null })
      expect(erasure).toMatchObject({ action: 'verification.erased', subject: record?.subject ?? '', salt: null, sealed: null })

      await app.stop()
      const lines = await exportedFrom(app.dir)
      const exported = lines.join('\n')
      for (const trace of [id, metadata.berth]) expect(exported).not.toContain(trace)
      expect(exported.split(purpose)).toHaveLength(2)
      expect(lineOf(lines, before + 1)).not.toHaveProperty('details')
      expect(lineOf(lines, before + 1)).not.toHaveProperty('salt')
      expect(lineOf(lines, before + 2).details).toMatchObject({ id: neighbour.id, purpose, template: 'age_over_18' })
      expect(await verifyLines(lines)).toMatchObject({ count: before + 3, problem: undefined })
    },
  )
})

const exportedFrom = (directory: string): Promise<string[]> =>
  onCopyOf(directory, copy => withCommand(copy, deps => Array.fromAsync(exportAudit(deps))))

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

const verifyLines = (lines: readonly string[]): Promise<AuditVerdict> => verifyExport(each(lines))

const headingOf = ([heading = '']: readonly string[]): ExportHeading => JSON.parse(heading)
const lineOf = (lines: readonly string[], seq: number): ExportLine => JSON.parse(lines[seq] ?? '')

describe('an export', () => {
  let lines: string[]
  let publicKey: string

  beforeAll(async () => {
    lines = await exportedFrom(dir)
    publicKey = headingOf(lines).public_key
  })

  test('an export verifies with nothing but the file, and ends with a signed record', async () => {
    const file = join(temporaryDir(), 'audit.jsonl')
    await Bun.write(file, `${lines.join('\n')}\n`)
    const nowhere = join(temporaryDir(), 'never-made')
    const run = await vidimus(nowhere, ['audit', 'verify', '--file', file, '--json'])
    expect(run.exitCode).toBe(0)
    expect(JSON.parse(run.stdout)).toMatchObject({ ok: true, count: last, head: records.at(-1)?.hash, signed_to: last })
    expect(existsSync(nowhere)).toBe(false)
    expect(headingOf(lines).checkpoints.map(({ seq }) => seq)).toEqual([signed, last])
  })

  test('verifying a broken export ends with exit code 1 and names the place', async () => {
    const file = join(temporaryDir(), 'audit.jsonl')
    await Bun.write(file, `${lines.toSpliced(7, 1).join('\n')}\n`)
    const run = await vidimus(temporaryDir(), ['audit', 'verify', '--file', file, '--json'])
    expect({ exitCode: run.exitCode, stderr: run.stderr }).toEqual({ exitCode: 1, stderr: '' })
    expect(JSON.parse(run.stdout)).toMatchObject({ ok: false, broken_at: 7, problem: 'it is missing or out of order' })
    const told = await vidimus(temporaryDir(), ['audit', 'verify', '--file', file])
    expect(told).toMatchObject({ exitCode: 1, stdout: 'The chain is broken at record 7: it is missing or out of order.\n' })
  })

  test('an export has salt and details of every record that was not erased, and of no other', () => {
    for (const row of records) {
      const { details } = lineOf(lines, row.seq)
      expect(details !== undefined).toBe(isDisclosed(row))
      if (details) expect(details).toMatchObject({ id: expect.any(String) })
    }
    expect(lineOf(lines, 1).details).toMatchObject({ name: 'Shop', plan: 'standard' })
    const changed = lines
      .slice(1)
      .map(text => JSON.parse(text))
      .find(({ action }: ExportLine) => action === 'tenant.changed')
    expect(changed.details).toEqual({ id: changed.tenantId, daily_quota: 50, retention_days: 30 })
  })

  test('a member changed, renamed, doubled, added or removed in any line is found at its record', async () => {
    for (let seq = 1; seq <= last; seq++) {
      const line = lineOf(lines, seq)
      for (const [name, value] of Object.entries(line)) {
        const { [name]: _, ...without } = line as Record<string, unknown>
        const variants = [
          JSON.stringify({ ...line, [name]: changedValue(value) }),
          JSON.stringify(without),
          JSON.stringify({ ...without, [`${name}_`]: value }),
          JSON.stringify({ ...line, [`${name}_`]: value }),
          `{${JSON.stringify(name)}:${JSON.stringify(changedValue(value))},${lines[seq]?.slice(1)}`,
        ]
        for (const variant of variants) {
          const { problem } = await verifyLines(lines.with(seq, variant))
          expect({ name, variant, problem }).toMatchObject({ problem: { seq } })
        }
      }
    }
  })

  test('details added to an erased record are found, with a salt and without', async () => {
    const { seq } = records.find(row => !isDisclosed(row)) ?? { seq: 0 }
    const donor = lineOf(lines, 1)
    for (const added of [{ details: donor.details }, { salt: donor.salt, details: donor.details }, { salt: donor.salt }]) {
      const forged = JSON.stringify({ ...lineOf(lines, seq), ...added })
      expect((await verifyLines(lines.with(seq, forged))).problem).toEqual({ seq, problem: 'its details were changed' })
    }
  })

  test('details removed from a line with their salt are found', async () => {
    for (const { seq } of places()) {
      const { salt, details, ...bare } = lineOf(lines, seq)
      const { problem } = await verifyLines(lines.with(seq, JSON.stringify(bare)))
      expect(problem).toEqual({ seq, problem: expect.stringMatching(/details are gone/) })
    }
  })

  test('every line dropped, doubled, emptied or swapped with the next is found', async () => {
    for (let i = 0; i <= last; i++) {
      const line = lines[i] ?? ''
      const variants = [lines.toSpliced(i, 1), lines.toSpliced(i, 0, line), lines.with(i, '')]
      if (i < last) variants.push(lines.toSpliced(i, 2, lines[i + 1] ?? '', line))
      for (const variant of variants) expect((await verifyLines(variant)).problem).toBeDefined()
    }
    expect((await verifyLines([...lines, ''])).problem).toBeDefined()
    expect((await verifyLines([])).problem).toEqual({ seq: 0, problem: 'the file is empty' })
  })

  test('a flipped bit is found wherever it is', async () => {
    const bytes = Buffer.from(lines.join('\n'))
    // The stride is coprime to the line lengths, so that every member is hit at many places.
    for (let at = 0; at < bytes.length; at += 53) {
      for (const bit of [1, 0x20]) {
        const flipped = Buffer.from(bytes)
        flipped[at] = (flipped[at] ?? 0) ^ bit
        const { problem } = await verifyLines(flipped.toString().split('\n'))
        expect({ at, bit, problem }).toMatchObject({ problem: { seq: expect.any(Number) } })
      }
    }
  })

  test('a heading without its checkpoints, or with a forged one beside the right one, is found', async () => {
    const heading = headingOf(lines)
    const [first, second] = heading.checkpoints
    const forged = { seq: signed, at: 0, hash: 'f'.repeat(64), signature: first?.signature ?? '' }
    for (const checkpoints of [
      [],
      [first],
      [forged, first, second],
      [first, forged, second],
      [second, first],
      [first, second, second, second, forged],
    ]) {
      const { problem } = await verifyLines(lines.with(0, JSON.stringify({ ...heading, checkpoints })))
      expect(problem).toMatchObject({ seq: expect.any(Number), problem: expect.stringMatching(/checkpoint/) })
    }
    // The last character before the padding has two or four bits that decoding drops.
    const respelt = (base64: string) => base64.replace(/.(?==+$)/, each => String.fromCharCode(each.charCodeAt(0) + 1))
    const resigned = { ...first, signature: respelt(first?.signature ?? '') }
    const changes = [
      ...['', 'AAAA', 'not base64!', respelt(heading.public_key)].map(public_key => ({ public_key })),
      { vidimus_audit: 2 },
      { note: 'x' },
      { checkpoints: [resigned, second] },
      { checkpoints: [{ ...first, note: 'x' }, second] },
    ]
    for (const change of changes) {
      const { problem } = await verifyLines(lines.with(0, JSON.stringify({ ...heading, ...change })))
      expect({ change, problem }).toMatchObject({ problem: { seq: 0, problem: expect.stringMatching(/heading/) } })
    }
  })

  test('an export of another installation under this key fails at its first checkpoint', async () => {
    const other = await otherExport()
    const swapped = other.with(0, JSON.stringify({ ...headingOf(other), public_key: publicKey }))
    expect((await verifyLines(swapped)).problem).toEqual({
      seq: headingOf(other).checkpoints[0]?.seq ?? 0,
      problem: 'the signature of its checkpoint is not valid',
    })
  })

  test('limit: an export of another installation is valid under its own key; only the public key differs', async () => {
    const verdict = await verifyLines(await otherExport())
    expect(verdict.problem).toBeUndefined()
    expect(verdict.publicKey).not.toBe(publicKey)
  })

  test('limit: an export rewritten and signed with a new key is valid; only the public key differs', async () => {
    const { publicKey: own, privateKey } = generateKeyPairSync('ed25519')
    const rewritten = relinked(lines.slice(1).map(text => ({ ...(JSON.parse(text) as ExportLine), actor: 'somebody else' })))
    const head = { seq: last, at: 0, hash: rewritten.at(-1)?.hash ?? '', signature: '' }
    head.signature = signText(null, Buffer.from(checkpointTextOf(head)), privateKey).toString('base64')
    const public_key = own.export({ format: 'der', type: 'spki' }).toString('base64')
    const heading = { vidimus_audit: 1, public_key, checkpoints: [head] }
    const verdict = await verifyLines([heading, ...rewritten].map(line => JSON.stringify(line)))
    expect(verdict).toMatchObject({ count: last, publicKey: public_key, problem: undefined })
    expect(verdict.publicKey).not.toBe(publicKey)
  })

  test('limit: an export cut back to an earlier checkpoint is a valid older one; only count and head differ', async () => {
    const heading = headingOf(lines)
    const older = [JSON.stringify({ ...heading, checkpoints: heading.checkpoints.slice(0, 1) }), ...lines.slice(1, signed + 1)]
    const silent = records.some(({ seq, salt, action }) => seq <= signed && salt === null && action !== 'verification.erased')
    expect(silent).toBe(true)
    expect(await verifyLines(older)).toMatchObject({
      count: signed,
      head: records[signed - 1]?.hash,
      publicKey,
      problem: undefined,
    })
  })

  test('an export ends with the record it signed while the service adds more', async () => {
    const { app, shop } = await auditedApp()
    const before = (await verifyAudit(app.deps)).count
    const exported = await withCommand(app.dir, async deps => {
      const writing = exportAudit(deps)
      const heading = await writing.next()
      for (let i = 0; i < 5; i++) await createVerification(app, shop.key)
      return [heading.value ?? '', ...(await Array.fromAsync(writing))]
    })
    expect(await verifyLines(exported)).toMatchObject({ count: before, signedTo: before, problem: undefined })
    const next = await withCommand(app.dir, deps => Array.fromAsync(exportAudit(deps)))
    expect(await verifyLines(next)).toMatchObject({ count: before + 5, signedTo: before + 5, problem: undefined })
  })
})

async function otherExport(): Promise<string[]> {
  const { app } = await auditedApp()
  await sign(app)
  await app.stop()
  return await exportedFrom(app.dir)
}

function changedValue(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'string') return /^[0-9a-f]+$/.test(value) ? flippedHex(value) : `${value}x`
  return { ...(value as object), id: 'somebody else' }
}
