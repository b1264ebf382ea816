import { describe, expect, test } from 'bun:test'
import { readInThread } from '../../src/trust-lists/read-in-thread.ts'
import { kindOf, readList } from '../../src/trust-lists/read-list.ts'
import { makeIssuer, makeLote, makeSigner, makeVical } from './make.ts'
import { accepted, expectRefused } from './outcome.ts'

const signer = await makeSigner()
const issuer = await makeIssuer()
const vical = makeVical({ entries: [{ certificate: issuer.der }] }, signer)
const lote = makeLote({ entities: [{ services: [{ certificates: [issuer.der] }] }] }, signer)
const text = (content: string): Uint8Array => Buffer.from(content)

describe('the kind of a list', () => {
  test.each([
    ['vical', vical],
    ['vical', makeVical({}, signer, { isTagged: true })],
    ['lote', lote],
    ['lote', makeLote({}, signer, { form: 'general' })],
    ['lote', makeLote({}, signer, { form: 'flattened' })],
    ['lote', text('{"LoTE":{}}')],
    ['etsi-xml', text('<?xml version="1.0"?>\n<TrustServiceStatusList xmlns="x">')],
    ['etsi-xml', text('\ufeff<tsl:TrustServiceStatusList xmlns:tsl="x">')],
    [undefined, text('<!doctype html><html>')],
    [undefined, text('{"error":"not found"}')],
    [undefined, text('')],
    [undefined, Uint8Array.of(0xa1, 1, 2)],
  ] as const)('is seen by its beginning: %s', (kind, bytes) => expect(kindOf(bytes)).toBe(kind as ReturnType<typeof kindOf>))

  test('must be the expected one', () => {
    expect(readList('vical', vical).ok).toBe(true)
    expect(readList('lote', lote).ok).toBe(true)
    expectRefused(readList('lote', vical), 'not_this_kind', 'a VICAL')
    expectRefused(readList('vical', lote), 'not_this_kind', 'not a VICAL')
    expectRefused(readList('etsi-xml', lote), 'not_this_kind')
  })
})

test('a web page or nothing at all is no list of any kind', () => {
  for (const kind of ['vical', 'lote', 'etsi-xml'] as const) {
    for (const bytes of [text('<!doctype html><html></html>'), text(''), text('{}{')]) {
      expectRefused(readList(kind, bytes), 'malformed')
    }
  }
})

test('a list of 4 MiB is read, and one byte more is too large', () => {
  const padded = (length: number) => Buffer.concat([lote, Buffer.alloc(length - lote.length, '\n')])
  expect(readList('lote', padded(4 * 1024 * 1024)).ok).toBe(true)
  expectRefused(readList('lote', padded(4 * 1024 * 1024 + 1)), 'too_large')
})

describe('a thread for a list', () => {
  test('returns what reading without one returns', async () => {
    expect(await readInThread('vical', vical)).toEqual(readList('vical', vical))
    expect(await readInThread('lote', lote)).toEqual(readList('lote', lote))
    expect(await readInThread('lote', vical)).toEqual(readList('lote', vical))
  })

  test('leaves the bytes to the caller', async () => {
    const bytes = new Uint8Array(lote)
    accepted(await readInThread('lote', bytes))
    expect(bytes).toEqual(new Uint8Array(lote))
  })

  test('that fails or ends refuses the list', async () => {
    for (const code of ['throw new Error("broken")', 'self.onmessage = () => { throw new Error("broken") }', 'process.exit(3)']) {
      const hire = () => new Worker(URL.createObjectURL(new Blob([code])))
      expectRefused(await readInThread('lote', lote, { hire }), 'malformed', 'could not be read')
    }
  })

  test('that takes too long is ended, and the list is refused', async () => {
    const hired: Worker[] = []
    const hire = () => {
      const worker = new Worker(URL.createObjectURL(new Blob(['self.onmessage = () => { for (;;); }'])))
      hired.push(worker)
      return worker
    }
    const closed = Promise.withResolvers<void>()
    const reading = readInThread('lote', lote, { hire, msMax: 50 })
    hired[0]!.addEventListener('close', () => closed.resolve())
    expectRefused(await reading, 'malformed', 'took too long')
    await closed.promise
  })
})
