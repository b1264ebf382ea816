// Recomputes an export as an auditor would, with node:crypto only (test/helpers/chain.ts shares no
// code with the service): every commitment, link, hash and signature.
import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createVerification, temporaryDir } from '../helpers/app.ts'
import { auditedApp } from '../helpers/audited.ts'
import {
  canonical,
  checkpointTextOf,
  commitmentOf,
  type ExportHeading,
  type ExportLine,
  hashOf,
  isSignedBy,
} from '../helpers/chain.ts'
import { vidimusJson } from '../helpers/cli.ts'
import { KEY_ORDER } from '../helpers/rfc8785.ts'

const AWKWARD = 'Älter als 18? "Ja"\\nein \u00a0\u{1f377} \uffff </script>'

let heading: ExportHeading
let lines: ExportLine[]
let head: string

beforeAll(async () => {
  const { app, shop } = await auditedApp()
  await createVerification(app, shop.key, { purpose: AWKWARD })
  await app.stop()
  const file = join(temporaryDir(), 'audit.jsonl')
  head = (await vidimusJson<{ head: string }>(app.dir, 'audit', 'export', file)).head
  const [first = '', ...rest] = readFileSync(file, 'utf8').trimEnd().split('\n')
  heading = JSON.parse(first)
  lines = rest.map(line => JSON.parse(line))
})

describe('the independent implementation of these tests', () => {
  test('canonical JSON is that of RFC 8785: the example of its section 3.2.3, and nesting', () => {
    expect(canonical(KEY_ORDER.input)).toBe(KEY_ORDER.canonical)
    expect(canonical({ b: [{ d: null, c: 1e21 }], a: { z: false, y: -0 } })).toBe(
      '{"a":{"y":0,"z":false},"b":[{"c":1e+21,"d":null}]}',
    )
  })

  test('a commitment is the SHA-256 of the salt and the canonical details', () => {
    const salt = '00'.repeat(32)
    const expected = createHash('sha256').update(Buffer.alloc(32)).update('{"a":"é","b":1}').digest('hex')
    expect(commitmentOf(salt, { b: 1, a: 'é' })).toBe(expected)
  })
})

test('every commitment matches the salt and details beside it', () => {
  const disclosed = lines.filter(({ details }) => details)
  expect(disclosed.length).toBeGreaterThan(25)
  for (const { seq, salt = '', details, commitment } of disclosed)
    expect({ seq, commitment: commitmentOf(salt, details) }).toEqual({ seq, commitment })
  expect(disclosed.at(-1)?.details).toMatchObject({ purpose: AWKWARD })
})

test('salts are 32 bytes and never used twice, so equal details have unequal commitments', () => {
  const salts = lines.flatMap(({ salt }) => salt ?? [])
  for (const salt of salts) expect(salt).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(salts).size).toBe(salts.length)
  expect(new Set(lines.map(({ commitment }) => commitment)).size).toBe(lines.length)
})

test('every hash matches its record, and every record has the hash before it', () => {
  let previous = '0'.repeat(64)
  for (const [i, line] of lines.entries()) {
    expect(line).toMatchObject({ seq: i + 1, previous, hash: hashOf(line) })
    previous = line.hash
  }
  expect(previous).toBe(head)
})

test('times of records never decrease', () => {
  const times = lines.map(({ at }) => at)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
})

test('every checkpoint is signed with the key of the heading, over its number, time and hash, and fits its record', () => {
  expect(heading.checkpoints.map(({ seq }) => seq)).toEqual([expect.any(Number), lines.length])
  for (const checkpoint of heading.checkpoints) {
    expect(checkpointTextOf(checkpoint)).toMatch(
      /^vidimus audit checkpoint\n\d+\n\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\n[0-9a-f]{64}\n$/,
    )
    expect(isSignedBy(heading.public_key, checkpoint)).toBe(true)
    expect(lines[checkpoint.seq - 1]?.hash).toBe(checkpoint.hash)
    for (const changed of [{ seq: checkpoint.seq + 1 }, { at: checkpoint.at + 1 }, { hash: 'f'.repeat(64) }])
      expect(isSignedBy(heading.public_key, { ...checkpoint, ...changed })).toBe(false)
  }
})

test('a subject is a keyed hash: equal for all records of one thing, and not computable from its id', () => {
  const byId = Map.groupBy(
    lines.filter(({ details }) => details),
    ({ details }) => String(details?.id),
  )
  expect(byId.size).toBeGreaterThan(15)
  for (const [id, about] of byId) {
    expect(new Set(about.map(({ subject }) => subject)).size).toBe(1)
    expect(about[0]?.subject).not.toBe(createHash('sha256').update(id).digest('hex'))
  }
  expect(new Set([...byId.values()].map(about => about[0]?.subject)).size).toBe(byId.size)
  const erased = lines.filter(({ action }) => action === 'verification.erased')
  expect(erased.length).toBeGreaterThan(3)
  for (const { subject } of erased) {
    const about = lines.filter(line => line.subject === subject)
    expect(about.map(({ action }) => action)).toEqual(['verification.created', 'verification.erased'])
    for (const line of about) expect([line.salt, line.details]).toEqual([undefined, undefined])
  }
})
