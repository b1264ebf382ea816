// Nothing but the answer that was meant completes a session: valid presentations with some of their
// bytes changed, and bombs. The change is made before encryption, so that the parsers behind the
// JWE see it, or on the form as a whole.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Cbor } from '../../src/sandbox/cbor.ts'
import { type Mutations, vpToken } from '../../src/sandbox/wallet/wallet.ts'
import { startApp } from '../helpers/app.ts'
import { circularHolder, ENVELOPE_BOMBS, PRESENTATION_BOMBS } from '../helpers/bombs.ts'
import { type Change, changedText, withChangedPart } from '../helpers/byte-changes.ts'
import { encryptedTo, FORM, formOf, openSession, postTo, readOf, type Session, verdictOf } from '../helpers/exchange.ts'
import { forgeMdoc, forgeSdJwt, forgeSigner, holderWith, MDL_NAMESPACE, trust } from '../helpers/forger.ts'
import { accept, CLAIMS, FORMATS, QUERIES } from '../helpers/queries.ts'

const RUNS = { numRuns: 150, endOnFailure: true }
const ANSWER_MS_MAX = 2000
const RSS_GROWTH_MAX = 64 * 1024 * 1024

const app = await startApp()
const party = { app, key: (await app.tenant()).key }
const signer = await forgeSigner()
await trust(app, signer)
// One document of each format, and no status list: what is left is the presentation.
const holder = await holderWith(async key => [await forgeSdJwt(signer, key), await forgeMdoc(signer, key)])

/** Not fc.double, which favours the smallest numbers. */
const anywhere = fc.noBias(fc.nat(999_999).map(millionths => millionths / 1_000_000))

const changes = fc.array(
  fc.record<Change>({
    kind: fc.constantFrom('flip', 'flip', 'flip', 'delete', 'insert', 'swap', 'truncate', 'duplicate'),
    at: anywhere,
    length: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 300 })),
    value: fc.integer({ min: 0, max: 255 }),
  }),
  { minLength: 1, maxLength: 3 },
)

function memoized<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new Map<Key, Made>()
  return key => {
    if (!made.has(key)) made.set(key, make(key))
    return made.get(key)!
  }
}

/** Posts, within the bound, without a 5xx; says what became of the session. */
async function outcomeAfter(session: Session, raw: BodyInit): Promise<{ status: number; outcome: string; claims: unknown }> {
  const before = process.cpuUsage()
  const { status, body } = await postTo(session, raw, FORM)
  // The time that it takes of a processor: what else runs on the machine does not count.
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(ANSWER_MS_MAX)
  expect([200, 400]).toContain(status)
  const verification = await readOf(session)
  const isOver = verification.status !== 'pending'
  expect([isOver, body.error?.code]).toEqual(status === 200 ? [true, undefined] : [false, 'invalid_wallet_response'])
  return { status, outcome: verdictOf(verification).outcome, claims: verification.claims }
}

describe.each(FORMATS)('%s', format => {
  test('a presentation with any of its bytes changed never completes with anything but what was issued', async () => {
    const outcomes = new Set<string>()
    await fc.assert(
      fc.asyncProperty(changes, fc.nat(), async (all, part) => {
        const session = await openSession(party, QUERIES[format])
        let isSame = false
        const presentation = (text: string) => {
          const other = withChangedPart(text, part, all)
          isSame = other === text
          return other
        }
        const form = await formOf(session, holder, { accept: accept(format), mutations: { presentation } })
        const { outcome, claims } = await outcomeAfter(session, form)
        outcomes.add(outcome)
        if (isSame) return expect([outcome, claims]).toEqual(['completed', CLAIMS])
        // Every letter of an SD-JWT is hashed or signed. Of an mdoc the envelope is not: "1.1" for
        // "1.0", or 0 in two bytes, changes nothing.
        if (format === 'dc+sd-jwt') expect(outcome).not.toBe('completed')
        if (outcome === 'completed') expect(claims).toEqual(CLAIMS)
      }),
      RUNS,
    )
    // The changes reach beyond the first parser; how far is a matter of the seed.
    expect([...outcomes].some(outcome => !['presentation_malformed', 'completed'].includes(outcome))).toBe(true)
  })

  test('a presentation with one flipped bit completes only with what was issued', async () => {
    await fc.assert(
      fc.asyncProperty(anywhere, fc.nat(6), async (at, bit) => {
        const session = await openSession(party, QUERIES[format])
        const presentation = (text: string) => changedText(text, [{ kind: 'flip', at, length: 1, value: bit }])
        const form = await formOf(session, holder, { accept: accept(format), mutations: { presentation } })
        const { outcome, claims } = await outcomeAfter(session, form)
        if (outcome === 'completed') expect([format, claims]).toEqual(['mso_mdoc', CLAIMS])
      }),
      RUNS,
    )
  })
})

describe('the envelope', () => {
  test('the JSON inside the JWE completes only with the same token and state in it', async () => {
    let session = await openSession(party, QUERIES['dc+sd-jwt'])
    await fc.assert(
      fc.asyncProperty(changes, async all => {
        const token = await vpToken(session.request, holder, { now: app.clock.now(), accept: accept('dc+sd-jwt') })
        const text = JSON.stringify({ vp_token: token, state: session.request.state, more: { a: [1, 'x', null] } })
        const other = changedText(text, all)
        const { status, outcome } = await outcomeAfter(session, await encryptedTo(session, other))
        if (outcome === 'completed') {
          const { vp_token, state } = JSON.parse(other) as { vp_token: unknown; state: unknown }
          expect([vp_token, state]).toEqual([token, session.request.state])
        }
        if (status === 200) session = await openSession(party, QUERIES['dc+sd-jwt'])
      }),
      RUNS,
    )
  })

  test('the form completes only with the same JWE in it', async () => {
    let session = await openSession(party, QUERIES.mso_mdoc)
    const outcomes = { refused: 0, completed: 0 }
    await fc.assert(
      fc.asyncProperty(changes, async all => {
        const form = await formOf(session, holder, { accept: accept('mso_mdoc') })
        const jwe = form.get('response')!
        const body = changedText(form.toString(), all)
        const { status, outcome } = await outcomeAfter(session, body)
        if (status === 400) return void outcomes.refused++
        outcomes.completed++
        // The header is authenticated as text. The other parts may be written in other letters as
        // long as they are the same bytes.
        expect(outcome).toBe('completed')
        const [head, ...parts] = (new URLSearchParams(body).get('response') ?? '').split('.')
        const [goodHead, ...goodParts] = jwe.split('.')
        expect(head).toBe(goodHead!)
        const decoded = (texts: string[]) => texts.map(text => Buffer.from(text, 'base64url').toString('hex'))
        expect(decoded(parts)).toEqual(decoded(goodParts))
        session = await openSession(party, QUERIES.mso_mdoc)
      }),
      RUNS,
    )
    expect(outcomes.refused).toBeGreaterThan(0)
  })
})

test('500 answers leave no more than 64 MiB behind', async () => {
  const session = await openSession(party, QUERIES['dc+sd-jwt'])
  const refusals = await Promise.all(
    [{ state: 'x' }, { vpTokenShape: 'unknown_id' }, { kid: 'x' }].map(mutations =>
      formOf(session, holder, { mutations: mutations as Mutations }),
    ),
  )
  const bodies = [...refusals.map(String), `response=${'x'.repeat(900_000)}`, `response=${'A'.repeat(200_000)}.A.A.A.A`]
  const post = async (count: number) => {
    for (let i = 0; i < count; i++) expect((await postTo(session, bodies[i % bodies.length]!, FORM)).status).toBe(400)
    Bun.gc(true)
    return process.memoryUsage.rss()
  }
  // The heap grows to its working size first.
  const before = await post(100)
  expect((await post(500)) - before).toBeLessThan(RSS_GROWTH_MAX)
})

describe('bombs', () => {
  test.each(PRESENTATION_BOMBS)('%s, as %s, is reported as malformed', async (_, format, mutations, detail) => {
    const session = await openSession(party, QUERIES[format])
    const form = await formOf(session, holder, { accept: accept(format), mutations })
    expect(await outcomeAfter(session, form)).toMatchObject({ status: 200, outcome: 'presentation_malformed' })
    expect((await readOf(session)).credentials?.[0]?.findings[0]?.detail).toMatch(detail)
  })

  test.each(ENVELOPE_BOMBS)('%s is 400 and leaves the session pending', async (_, make) => {
    const session = await openSession(party, QUERIES['dc+sd-jwt'])
    expect(await outcomeAfter(session, await make(session, holder))).toMatchObject({ status: 400, outcome: 'pending' })
    expect((await outcomeAfter(session, await formOf(session, holder))).outcome).toBe('completed')
  })

  test('an answer of 10,000 values is read, and one of 10,001 is 400', async () => {
    const session = await openSession(party, QUERIES['dc+sd-jwt'])
    const answerOf = (values: number) =>
      encryptedTo(session, { state: session.request.state, error: 'access_denied', x: Array(values - 4).fill(0) })
    expect(await outcomeAfter(session, await answerOf(10_001))).toMatchObject({ status: 400, outcome: 'pending' })
    expect(await outcomeAfter(session, await answerOf(10_000))).toMatchObject({ status: 200, outcome: 'wallet_declined' })
  })

  test('certificates that vouch for each other in a circle lead nowhere', async () => {
    const stranger = await circularHolder()
    const session = await openSession(party, QUERIES['dc+sd-jwt'])
    expect(await outcomeAfter(session, await formOf(session, stranger))).toMatchObject({ outcome: 'issuer_untrusted' })
  })
})

describe('a portrait', () => {
  const body = {
    query: {
      credentials: [
        {
          id: 'mdl',
          format: 'mso_mdoc',
          meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
          claims: [{ path: [MDL_NAMESPACE, 'portrait'] }],
        },
      ],
    },
  }
  const withPortrait = memoized((bytes: number) =>
    holderWith(async key => {
      const portrait: Cbor = Buffer.alloc(bytes, 0xd8)
      return [await forgeMdoc(signer, key, { elements: [[MDL_NAMESPACE, 'portrait', portrait]] })]
    }),
  )
  const partyOf = memoized(async (profile: 'haip' | 'plain') => {
    const own = await startApp({ config: { wallet: { ...app.deps.config.wallet, profile } } })
    await trust(own, signer)
    return { app: own, key: (await own.tenant()).key }
  })

  // Base64 inside base64: encrypted, a form of 1 MiB holds some 560 kB; unencrypted, some 780 kB.
  test.each([
    ['550 kB, encrypted', 'haip', 550_000, 200],
    ['600 kB, unencrypted', 'plain', 600_000, 200],
    ['600 kB, encrypted', 'haip', 600_000, 413],
    ['2 MB, unencrypted', 'plain', 2_000_000, 413],
    ['2 MB, encrypted', 'haip', 2_000_000, 413],
  ] as const)('an answer with a portrait of %s is taken if it has at most 1 MiB', async (_, profile, bytes, expected) => {
    const session = await openSession(await partyOf(profile), body)
    const form = await formOf(session, await withPortrait(bytes))
    Bun.gc(true)
    const before = process.memoryUsage.rss()
    const { status } = await postTo(session, form)
    expect(status).toBe(expected)
    expect(process.memoryUsage.rss() - before).toBeLessThan(RSS_GROWTH_MAX)
    const { status: outcome, claims } = await readOf(session)
    expect(outcome).toBe(expected === 200 ? 'completed' : 'pending')
    if (expected === 200) expect(String(claims?.picture).length).toBe(Math.ceil((bytes * 4) / 3))
  })
})
