import { afterAll, describe, expect, test } from 'bun:test'
import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createResolver, type ResolverOptions } from '../../src/egress/resolve.ts'
import { cleanUp, temporaryDir, until } from '../helpers/app.ts'
import { type DnsAnswer, NXDOMAIN, type Question, SERVFAIL, startNameServer } from '../helpers/name-server.ts'

const NO_HOSTS = '/nonexistent/hosts'
const LONG = 60_000
const PATIENT = { placeMs: LONG, lookUpMs: LONG, otherFamilyMs: LONG }
const V4 = '93.184.216.34'
const V6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c'

const stops: (() => void)[] = []
afterAll(async () => {
  for (const stop of stops) stop()
  await cleanUp()
})

async function resolverWith(answer: (question: Question) => DnsAnswer | Promise<DnsAnswer>, options: ResolverOptions = {}) {
  const server = await startNameServer(answer)
  stops.push(server.stop)
  const given = { servers: server.servers, hostsFile: NO_HOSTS, hasIpv4: () => true, limits: PATIENT, ...options }
  const resolve = createResolver(given)
  return { resolve, questions: server.questions, names: () => new Set(server.questions.map(({ name }) => name)) }
}

const both = ({ type }: Question): DnsAnswer => ({ records: [type === 'A' ? { a: V4 } : { aaaa: V6 }] })

describe('a name', () => {
  test('with A and AAAA records gives both, IPv4 first', async () => {
    const { resolve } = await resolverWith(both)
    expect(await resolve('shop.example')).toEqual([V4, V6])
  })

  test('gives IPv6 first on a machine that has no IPv4 address', async () => {
    const { resolve } = await resolverWith(both, { hasIpv4: () => false })
    expect(await resolve('shop.example')).toEqual([V6, V4])
  })

  test('with an empty AAAA answer gives its IPv4 address', async () => {
    const { resolve } = await resolverWith(({ type }) => ({ records: type === 'A' ? [{ a: V4 }] : [] }))
    expect(await resolve('shop.example')).toEqual([V4])
  })

  test('with AAAA records only gives its IPv6 address', async () => {
    const { resolve } = await resolverWith(({ type }) => ({ records: type === 'AAAA' ? [{ aaaa: V6 }] : [] }))
    expect(await resolve('shop.example')).toEqual([V6])
  })

  test('whose AAAA query is never answered, or fails, gives its IPv4 address', async () => {
    for (const answer of [undefined, { rcode: SERVFAIL }]) {
      const limits = { ...PATIENT, otherFamilyMs: 1 }
      const { resolve } = await resolverWith(question => (question.type === 'A' ? both(question) : answer), { limits })
      expect(await resolve('shop.example')).toEqual([V4])
    }
  })

  test('behind a chain of CNAMEs gives the addresses at its end', async () => {
    const { resolve } = await resolverWith(({ type }) => ({
      records: [
        { cname: 'a.cdn.example' },
        { name: 'a.cdn.example', cname: 'b.cdn.example' },
        { name: 'b.cdn.example', ...(type === 'A' ? { a: V4 } : { aaaa: V6 }) },
      ],
    }))
    expect(await resolve('shop.example')).toEqual([V4, V6])
  })

  test('whose answer is too large for UDP is asked for over TCP', async () => {
    const { resolve } = await resolverWith(({ type }) => ({
      truncated: true,
      records: type === 'A' ? Array.from({ length: 60 }, (_, i) => ({ a: `93.184.216.${i}` })) : [],
    }))
    expect(await resolve('shop.example')).toHaveLength(60)
  })

  test('with more than 64 addresses is refused: each of them would have to be checked', async () => {
    const { resolve } = await resolverWith(({ type }) => ({
      truncated: true,
      records: type === 'A' ? Array.from({ length: 4000 }, (_, i) => ({ a: `93.184.${i >> 8}.${i & 255}` })) : [],
    }))
    await expect(resolve('shop.example')).rejects.toThrow('too many addresses')
  })

  test('that is an address is given back without a query', async () => {
    const { resolve, questions } = await resolverWith(both)
    expect(await resolve('127.0.0.1')).toEqual(['127.0.0.1'])
    expect(await resolve('::1')).toEqual(['::1'])
    expect(questions).toEqual([])
  })

  test('is asked for as it is, without search domains and without its final dot', async () => {
    const { resolve, names } = await resolverWith(both)
    await resolve('Till.Venue.Example.')
    await resolve('till')
    expect(names()).toEqual(new Set(['till.venue.example', 'till']))
  })

  test('is asked for again each time, because its addresses may have changed', async () => {
    const { resolve, questions } = await resolverWith(both)
    await resolve('shop.example')
    await resolve('shop.example')
    expect(questions).toHaveLength(4)
  })

  test('that is asked for twice at once is looked up once', async () => {
    const { resolve, questions } = await resolverWith(both)
    expect(await Promise.all([resolve('shop.example', 'one'), resolve('shop.example', 'two')])).toEqual([
      [V4, V6],
      [V4, V6],
    ])
    expect(questions).toHaveLength(2)
  })
})

describe('a name server', () => {
  const garbage = ({ raw }: Question) => Buffer.concat([raw.subarray(0, 2), Buffer.alloc(400, 0xff)])
  const endless = ({ raw }: Question) =>
    // One answer whose name is a pointer to itself.
    Buffer.concat([raw.subarray(0, 2), Buffer.from('81800001000100000000', 'hex'), raw.subarray(12), Buffer.from('c0ff', 'hex')])

  test.each([
    ['that never answers', () => undefined],
    ['that answers garbage', garbage],
    ['that answers with a broken record', endless],
    ['that answers SERVFAIL', () => ({ rcode: SERVFAIL })],
    ['that answers NXDOMAIN', () => ({ rcode: NXDOMAIN })],
    ['that answers nothing for both families', () => ({ records: [] })],
    ['whose CNAMEs lead nowhere', () => ({ records: [{ cname: 'gone.example' }] })],
    ['whose CNAMEs lead in a circle', () => ({ records: [{ cname: 'shop.example' }] })],
  ] satisfies [string, (question: Question) => DnsAnswer][])(
    '%s makes the name unresolvable, and nothing else',
    async (_, answer) => {
      const limits = { ...PATIENT, lookUpMs: 100 }
      const { resolve } = await resolverWith(question => (question.name === 'shop.example' ? answer(question) : both(question)), {
        limits,
      })
      await expect(resolve('shop.example')).rejects.toThrow('the name was not found')
      limits.lookUpMs = LONG
      expect(await resolve('other.example')).toEqual([V4, V6])
    },
  )
})

test('a failed look-up is remembered for ten seconds, for this name only', async () => {
  let at = 0
  let isThere = false
  const { resolve, questions } = await resolverWith(question => (isThere ? both(question) : { rcode: NXDOMAIN }), {
    now: () => at,
  })
  await expect(resolve('shop.example')).rejects.toThrow('not found')
  expect(questions).toHaveLength(2)
  isThere = true
  expect(await resolve('other.example')).toEqual([V4, V6])
  at = 9999
  await expect(resolve('shop.example')).rejects.toThrow('a moment ago')
  expect(questions).toHaveLength(4)
  at = 10_000
  expect(await resolve('shop.example')).toEqual([V4, V6])
})

describe('look-ups of one tenant', () => {
  /** Holds back every answer for a name that begins with `slow` until `goOn` is called. */
  async function slowServer(limits = PATIENT) {
    const gate = Promise.withResolvers<void>()
    const answer = async (question: Question) => {
      if (question.name.startsWith('slow')) await gate.promise
      return both(question)
    }
    return { ...(await resolverWith(answer, { limits })), goOn: gate.resolve }
  }

  test('are eight at a time; a ninth waits for a place, and other tenants are served meanwhile', async () => {
    const { resolve, names, goOn } = await slowServer()
    const slow = Array.from({ length: 9 }, (_, i) => resolve(`slow${i}.example`, 'one'))
    await until(async () => names().size === 8)
    expect(await resolve('quick.example', 'two')).toEqual([V4, V6])
    expect(names()).not.toContain('slow8.example')
    goOn()
    expect(await Promise.all(slow)).toEqual(Array.from({ length: 9 }, () => [V4, V6]))
  })

  test('beyond eight fail when no place becomes free in time, are not remembered, and leave their places', async () => {
    const { resolve, names, goOn } = await slowServer({ ...PATIENT, placeMs: 1 })
    const slow = Array.from({ length: 8 }, (_, i) => resolve(`slow${i}.example`, 'one'))
    await expect(resolve('shop.example', 'one')).rejects.toThrow('too many names')
    expect(names()).not.toContain('shop.example')
    goOn()
    await Promise.all(slow)
    const again = Array.from({ length: 8 }, (_, i) => resolve(`shop${i || ''}.example`, 'one'))
    expect(await Promise.all(again)).toEqual(Array.from({ length: 8 }, () => [V4, V6]))
  })
})

describe('the hosts file', () => {
  test('wins over the name servers, and is read again when it has changed', async () => {
    const hostsFile = join(temporaryDir(), 'hosts')
    const { resolve, questions } = await resolverWith(both, { hostsFile })
    writeFileSync(
      hostsFile,
      '# ours\n192.168.10.20 till TILL.venue.example # the till\nfd00::20 till\nfe80::1%eth0 till\nnonsense till\n',
    )
    expect(await resolve('till')).toEqual(['192.168.10.20', 'fd00::20'])
    expect(await resolve('till.venue.example')).toEqual(['192.168.10.20'])
    expect(questions).toEqual([])
    appendFileSync(hostsFile, '192.168.10.21 erp.venue.example\n')
    expect(await resolve('erp.venue.example')).toEqual(['192.168.10.21'])
    rmSync(hostsFile)
    expect(await resolve('till')).toEqual([V4, V6])
  })

  test('is read up to a mebibyte, whole lines only', async () => {
    const hostsFile = join(temporaryDir(), 'hosts')
    const line = '10.0.0.1 a.example\n'
    const filler = `# ${'x'.repeat(1024 * 1024 - line.length - 10)}\n`
    writeFileSync(hostsFile, `${line}${filler}10.0.0.2 b.example.and.more.behind\n10.0.0.3 c.example\n`)
    const { resolve } = await resolverWith(() => ({ rcode: NXDOMAIN }), { hostsFile })
    expect(await resolve('a.example')).toEqual(['10.0.0.1'])
    for (const name of ['b.example', 'b.example.and.more.behind', 'c.example'])
      await expect(resolve(name)).rejects.toThrow('not found')
  })

  test('decides localhost; without it localhost is loopback, and no name server is asked', async () => {
    const hostsFile = join(temporaryDir(), 'hosts')
    const { resolve, questions } = await resolverWith(both, { hostsFile })
    expect(await resolve('localhost')).toEqual(['127.0.0.1', '::1'])
    expect(await resolve('wallet.localhost')).toEqual(['127.0.0.1', '::1'])
    writeFileSync(hostsFile, '127.0.0.1 localhost\n')
    expect(await resolve('localhost')).toEqual(['127.0.0.1'])
    expect(questions).toEqual([])
  })
})
