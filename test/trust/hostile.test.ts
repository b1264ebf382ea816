// Lists that are made to harm: the memory they cost, and whether others are answered meanwhile.
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { addSource } from '../../src/trust/lists/add-source.ts'
import type { ListKind } from '../../src/trust-lists/list.ts'
import { cleanUp, createVerification, startApp } from '../helpers/app.ts'
import { NOW } from '../helpers/certificates.ts'
import { hostLists } from '../helpers/list-host.ts'
import { makeIssuers, pidList } from '../helpers/trusted-lists.ts'
import { makeSigner } from '../trust-lists/make.ts'

afterAll(cleanUp)

const GROWTH_MB_MAX = 64
const LIST_BYTES_MAX = 4 * 1024 * 1024
const signer = await makeSigner()

test('hostile answers cost less than 64 MB beside a list of 4 MiB', async () => {
  const plain = Buffer.alloc(LIST_BYTES_MAX, '\n')
  pidList(signer, await makeIssuers(1)).forEach((byte, at) => {
    plain[at] = byte
  })
  const replies: Record<string, () => Response> = {
    plain: () => new Response(plain),
    '20 MB': () => new Response(new Uint8Array(20_000_000)),
    'one byte too many': () => new Response(new Uint8Array(LIST_BYTES_MAX + 1)),
    endless: () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.enqueue(new Uint8Array(1024 * 1024))
          },
        }),
      ),
    '100 MB in gzip': () => new Response(gzipSync(Buffer.alloc(100_000_000)), { headers: { 'content-encoding': 'gzip' } }),
    ...Object.fromEntries(BOMBS.map(([name, , text]) => [name, () => new Response(Buffer.from(text()))])),
  }
  const host = await hostLists()
  host.answer(request => replies[decodeURIComponent(new URL(request.url).pathname.slice(1))]!())
  const kinds = Object.fromEntries(BOMBS.map(([name, kind]) => [name, kind]))
  const hostile = Object.keys(replies).filter(name => name !== 'plain')
  const looks = hostile.map(name => ({ name, kind: kinds[name] ?? 'lote', url: host.url(`/${encodeURIComponent(name)}`) }))
  const order = JSON.stringify({ allow: host.allow, caFile: host.caFile, plain: host.url('/plain'), looks })
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'measured-looks.ts'), order], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { plain: said, outcomes, grownMb } = JSON.parse(await new Response(child.stdout).text())
  expect(said).toBe('ok')
  expect(grownMb).toBeLessThan(GROWTH_MB_MAX)
  expect(outcomes).toEqual({
    '20 MB': 'too_large',
    'one byte too many': 'too_large',
    endless: 'too_large',
    '100 MB in gzip': 'unreachable',
    ...Object.fromEntries(BOMBS.map(([name]) => [name, 'malformed'])),
  })
})

const declaring = (from: number, count: number) => Array.from({ length: count }, (_, i) => ` xmlns:p${from + i}="u"`).join('')
const manyPrefixes = () => Array.from({ length: 40 }, (_, i) => `<a${declaring(25 * i, 25)}>`).join('')
const jws = (payload: string) =>
  `${Buffer.from('{"alg":"ES256"}').toString('base64url')}.${Buffer.from(payload).toString('base64url')}.AAAA`
/** Of a COSE_Sign1 with an empty header. */
const cbor = (payload: Buffer) => Buffer.concat([Buffer.from('8440a0', 'hex'), payload, Buffer.from('40', 'hex')])

/** Within the size of a list, and beyond another limit. */
const BOMBS: [name: string, kind: ListKind, bytes: () => string | Buffer][] = [
  ['1,000 prefixes and 100,000 elements', 'etsi-xml', () => `${manyPrefixes()}${'<b/>'.repeat(100_000)}`],
  ['100,001 elements', 'etsi-xml', () => `<a>${'<b/>'.repeat(100_000)}</a>`],
  ['a depth of 41', 'etsi-xml', () => `${'<a>'.repeat(41)}${'x'.repeat(4_000_000)}`],
  ['4 MB of &', 'etsi-xml', () => `<a>${'&'.repeat(4_000_000)}</a>`],
  ['JSON with a depth of 17', 'lote', () => jws(`${'['.repeat(17)}${'1,'.repeat(1_000_000)}1${']'.repeat(17)}`)],
  ['CBOR with 100,001 items', 'vical', () => cbor(Buffer.concat([Buffer.from('9a003d0900', 'hex'), Buffer.alloc(4_000_000)]))],
]

test('bombs that are brought at once are refused, and others are answered meanwhile', async () => {
  const app = await startApp({ now: NOW })
  const { key } = await app.tenant()
  const { id } = await createVerification(app, key)
  const order: string[] = []
  const ask = async () => {
    const { status } = await app.call('GET', `/v1/verifications/${id}`, { key })
    order.push(`answered ${status}`)
  }
  await ask()
  const given = { environment: 'live', label: 'List', signers: [signer.fingerprint] } as const
  const bombs = [...BOMBS, ...BOMBS].map(([name, kind, bytes]) => ({ name, kind, bytes: Buffer.from(bytes()) }))
  const bring = async ({ name, kind, bytes }: (typeof bombs)[number]) => {
    const problem = await addSource(app.deps, { ...given, kind, bytes }, 'test').catch(error => error)
    order.push('refused')
    return [name, problem.code]
  }
  let isAnswered = false
  const asked = ask().then(() => {
    isAnswered = true
  })
  // Several times on a busy machine. Read by the thread that answers, bombs would leave it no turn.
  for (let times = 0; !isAnswered; times++) {
    expect(times).toBeLessThan(50)
    expect(await Promise.all(bombs.map(bring))).toEqual(bombs.map(({ name }) => [name, 'malformed']))
  }
  await asked
  expect(order.at(-1)).toBe('refused')
  expect(order.filter(each => each === 'answered 200')).toHaveLength(2)
})
