// Anchors that come from lists: the types they count for, the end of their list, and blocks.
import { describe, expect, spyOn, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { sha256Hex } from '../../src/base/hash.ts'
import { Findings } from '../../src/openid4vp/finding.ts'
import { AnchorIndex } from '../../src/openid4vp/trust/anchor-index.ts'
import { twinOf } from '../../src/openid4vp/trust/certificate-twin.ts'
import { covers, IssuerTrust, type TrustAnchor } from '../../src/openid4vp/trust/trust.ts'
import type { AnchorList } from '../../src/openid4vp/trust/trust-anchor.ts'
import { anchorOf } from '../helpers/anchors.ts'
import { DAY_MS, type Issued, issue, issueAuthority, makeKeys, NOW, nameOf } from '../helpers/certificates.ts'

const PID = 'urn:eudi:pid:1'
const HOUR_MS = 3_600_000
const LIST: AnchorList = {
  id: 'src_pid',
  label: 'EU PID providers',
  sequence: 9,
  issuedAt: NOW - 30 * DAY_MS,
  nextUpdate: NOW + DAY_MS,
  endsAt: NOW + 8 * DAY_MS,
}

const root = await issueAuthority()
const leaf = await issue({ issuer: root })

const manual: typeof anchorOf = (issued, over) => anchorOf(issued, { id: 'manual', ...over })

const listed: typeof anchorOf = (issued, over) => anchorOf(issued, { id: 'listed', trustedFor: PID, list: LIST, ...over })

type Form = Pick<Issued, 'der'>

type Given = {
  chain?: Pick<Issued, 'der'>[]
  anchors: readonly TrustAnchor[] | AnchorIndex
  blocked?: Pick<Issued, 'der'>[]
  type?: string
  at?: number
  /** The clock for the dates of certificates. */
  wall?: number
}

const issuerTrust = new IssuerTrust()

function inputOf({ chain = [leaf], anchors, blocked = [], type = PID, at = NOW, wall = NOW }: Given) {
  const fingerprints = new Set(blocked.map(({ der }) => sha256Hex(der)))
  const index = anchors instanceof AnchorIndex ? anchors : new AnchorIndex(anchors, fingerprints)
  return {
    chain: chain.map(({ der }) => der),
    type,
    anchors: index,
    environment: 'live' as const,
    now: wall,
    steadyNow: at,
  }
}

/** The id of the anchor, or the reason; and the warnings. */
function judge(given: Given): { by: string | undefined; failures: string[]; says: string[] } {
  const findings = new Findings(() => NOW)
  const { anchor } = issuerTrust.check(findings, inputOf(given), 'dc+sd-jwt')
  return { by: anchor?.id, failures: findings.failures, says: findings.all.flatMap(({ detail }) => detail ?? []) }
}

const refusal = (given: Given): string => {
  const { by, failures, says } = judge(given)
  expect({ by, failures }).toEqual({ by: undefined, failures: ['issuer_untrusted'] })
  return says.join(' ')
}

/** The list of a document that the first anchor, or another one, vouches for. */
const signsStatusLists = (given: Given & { anchors: readonly TrustAnchor[] }, own = given.anchors[0]): boolean =>
  issuerTrust.judge({ ...inputOf(given), ...(own && { own }) }, 'status').ok

describe('the types that an anchor counts for', () => {
  test.each([
    [null, PID, true],
    [PID, PID, true],
    [PID, 'urn:eudi:pid:11', false],
    [PID, 'urn:eudi:pid', false],
    ['urn:eudi:pid:de:*', 'urn:eudi:pid:de:1', true],
    ['urn:eudi:pid:de:*', 'urn:eudi:pid:de:age:2', true],
    ['urn:eudi:pid:de:*', 'urn:eudi:pid:de:', false],
    ['urn:eudi:pid:de:*', 'urn:eudi:pid:de', false],
    ['urn:eudi:pid:de:*', 'urn:eudi:pid:den:1', false],
    ['urn:eudi:pid:de:*', 'urn:eudi:pid:no:1', false],
    ['urn:eudi:pid:de*', 'urn:eudi:pid:den:1', false],
    ['*', PID, false],
    ['', PID, false],
    [':*', 'x', false],
  ])('%p covers %p: %p', (trustedFor, type, expected) => {
    expect(covers(trustedFor, type)).toBe(expected)
  })

  test('a provider of one country is not trusted for the documents of another', () => {
    const anchors = [listed(root, { trustedFor: 'urn:eudi:pid:no:*' })]
    expect(judge({ anchors, type: 'urn:eudi:pid:no:1' })).toEqual({ by: 'listed', failures: [], says: [] })
    expect(refusal({ anchors, type: 'urn:eudi:pid:de:1' })).toContain('but for another type of credential')
  })

  test('the reason for a stranger tells whether anybody is trusted for the type, by a prefix as well', async () => {
    const chain = [await issue({ name: 'CN=Stranger', issuer: await issueAuthority({ name: 'CN=Other' }) })]
    const anchors = [listed(root, { trustedFor: 'urn:eudi:pid:no:*' })]
    expect(refusal({ chain, anchors, type: 'urn:eudi:pid:no:1' })).toContain('is not one that you trust')
    expect(refusal({ chain, anchors, type: 'urn:eudi:pid:de:1' })).toContain('No issuer is trusted for this type')
  })
})

describe('the use of an anchor', () => {
  test('an anchor for status lists vouches for them, never for documents', () => {
    const anchors = [listed(root, { use: 'status' }), manual(leaf, { trustedFor: 'urn:else' })]
    expect(refusal({ anchors })).toBe('EU PID providers names this issuer for status lists only, not for documents.')
    expect(signsStatusLists({ anchors })).toBe(true)
    expect(signsStatusLists({ anchors, type: 'urn:eudi:pid:2' })).toBe(false)
  })

  test('an issuer of documents vouches for the status lists of these, and not for those of others', () => {
    const anchors = [listed(root)]
    expect(signsStatusLists({ anchors })).toBe(true)
    expect(signsStatusLists({ anchors }, manual(leaf))).toBe(false)
    // The same certificate, named by the list and by the operator.
    expect(signsStatusLists({ anchors: [manual(root), ...anchors] }, anchors[0])).toBe(true)
  })

  test('an issuer of documents only vouches for no status list, and one for status lists only for those of others too', () => {
    expect(judge({ anchors: [manual(root, { use: 'documents' })] }).by).toBe('manual')
    expect(signsStatusLists({ anchors: [manual(root, { use: 'documents' })] })).toBe(false)
    const forLists = [manual(root, { use: 'status' }), manual(leaf, { trustedFor: 'urn:else' })]
    expect(signsStatusLists({ anchors: forLists }, manual(leaf))).toBe(true)
    expect(refusal({ anchors: forLists })).toBe('You trust Test for status lists only, not for documents.')
  })

  test('a withdrawn issuer vouches for nothing, and the reason names the list and the date', () => {
    const since = Date.parse('2026-05-01T00:00:00Z')
    const other = listed({ der: leaf.der }, { id: 'other', trustedFor: 'urn:else' })
    const anchors = [listed(root, { use: 'none', since }), other]
    expect(refusal({ anchors })).toBe('EU PID providers has withdrawn this issuer since 2026-05-01T00:00:00Z.')
    expect(refusal({ anchors: [listed(root, { use: 'none' }), other] })).toBe('EU PID providers has withdrawn this issuer.')
    expect(signsStatusLists({ anchors })).toBe(false)
  })

  test('an issuer that one list has withdrawn is trusted by another list, and by the operator', () => {
    const withdrawn = listed(root, { id: 'withdrawn', use: 'none' })
    expect(judge({ anchors: [withdrawn, listed(root)] }).by).toBe('listed')
    expect(judge({ anchors: [withdrawn, manual(root)] }).by).toBe('manual')
  })

  test('withdrawn issuers alone count as no issuers at all', () => {
    expect(refusal({ anchors: [listed(root, { use: 'none' })] })).toContain('No issuers are trusted yet')
  })
})

describe('the end of a list', () => {
  const { nextUpdate, endsAt } = LIST
  const OUT_OF_DATE = 'The list that names this issuer has been out of date since 2026-11-16T00:00:00Z.'

  test('an issuer of a current list is trusted without a warning, to the millisecond', () => {
    expect(judge({ anchors: [listed(root)], at: nextUpdate - 1 })).toEqual({ by: 'listed', failures: [], says: [] })
    expect(judge({ anchors: [listed(root)], at: nextUpdate }).says).toEqual([OUT_OF_DATE])
  })

  test.each([
    ['an hour after its update was due', nextUpdate + HOUR_MS],
    ['one millisecond before its end', endsAt - 1],
  ])('a list warns %s, and its issuer is trusted', (_, at) => {
    expect(judge({ anchors: [listed(root)], at })).toEqual({ by: 'listed', failures: [], says: [OUT_OF_DATE] })
    expect(signsStatusLists({ anchors: [listed(root)], at })).toBe(true)
  })

  test('at its end a list names nobody, and the reason names the list and the command', () => {
    expect(refusal({ anchors: [listed(root)], at: endsAt })).toBe(
      "The list that names this issuer (EU PID providers) ended on 2026-11-23T00:00:00Z: get a newer one with 'vidimus trust source refresh src_pid'.",
    )
    expect(signsStatusLists({ anchors: [listed(root)], at: endsAt })).toBe(false)
  })

  test('a wall clock that was set back does not revive a list', () => {
    expect(refusal({ anchors: [listed(root)], at: endsAt, wall: NOW })).toContain('ended on')
  })

  test('an anchor of the operator wins over an ended list, and over one that is out of date', () => {
    for (const at of [nextUpdate, endsAt]) {
      const anchors = [listed(root), manual(root)]
      expect(judge({ anchors, at })).toEqual({ by: 'manual', failures: [], says: [] })
      expect(judge({ anchors: anchors.toReversed(), at })).toEqual({ by: 'manual', failures: [], says: [] })
    }
  })

  test('a current list wins over one that is out of date', () => {
    const current = { ...LIST, id: 'src_other', nextUpdate: endsAt + DAY_MS, endsAt: endsAt + DAY_MS }
    const anchors = [listed(root), listed(root, { id: 'current', list: current })]
    expect(judge({ anchors, at: nextUpdate })).toEqual({ by: 'current', failures: [], says: [] })
  })
})

describe('blocked certificates', () => {
  test('a block of the anchor, of an authority below it or of the signer refuses the path', async () => {
    const middle = await issueAuthority({ name: 'CN=Middle', issuer: root })
    const signer = await issue({ issuer: middle })
    for (const anchor of [manual(root), listed(root)]) {
      const given = { chain: [signer, middle], anchors: [anchor] }
      for (const blocked of [root, middle, signer]) {
        const digest = sha256Hex(blocked.der)
        expect(refusal({ ...given, blocked: [blocked] })).toBe(
          `You have blocked a certificate of this issuer: 'vidimus trust unblock ${digest} --env live' ends that.`,
        )
      }
      expect(judge({ ...given, blocked: [leaf] }).by).toBe(anchor.id)
    }
  })

  test('a block refuses a remembered path, and its end restores the path', () => {
    const anchors = [listed(root)]
    expect(judge({ anchors }).by).toBe('listed')
    expect(refusal({ anchors, blocked: [leaf] })).toContain('You have blocked')
    expect(judge({ anchors }).by).toBe('listed')
  })

  test('a blocked certificate that is sent along refuses a path that ends below it', async () => {
    const middle = await issueAuthority({ name: 'CN=Middle', issuer: root })
    const signer = await issue({ issuer: middle })
    const anchors = [manual(middle)]
    expect(refusal({ chain: [signer, middle, root], anchors, blocked: [root] })).toContain('You have blocked')
    expect(judge({ chain: [signer, middle], anchors, blocked: [root] }).by).toBe('manual')
  })

  test('a blocked anchor does not refuse a path to another one', async () => {
    const renewed = await issueAuthority({ keys: root.keys })
    const anchors = [manual(root), manual(renewed, { id: 'renewed' })]
    expect(judge({ anchors, blocked: [root] }).by).toBe('renewed')
    expect(refusal({ anchors, blocked: [root, renewed] })).toContain(sha256Hex(root.der))
  })

  test('a block counts for a certificate whose ECDSA signature is written the other way', async () => {
    for (const namedCurve of ['P-256', 'P-384', 'P-521'] as const) {
      const keys = await makeKeys({ name: 'ECDSA', namedCurve })
      const authority = await issueAuthority({ name: `CN=${namedCurve}`, keys })
      const middle = await issueAuthority({ name: 'CN=Middle', issuer: authority })
      const signer = await issue({ issuer: middle })
      const anchors = [manual(authority)]
      for (const [blocked, curve, chain] of [
        [signer, 'P-256', (twin: Form) => [twin, middle]],
        [middle, namedCurve, (twin: Form) => [signer, twin]],
      ] as const) {
        const twin = { der: twinOf(blocked, { key: { algorithm: 'ec', curve, sha1: new Uint8Array() } })! }
        expect(judge({ chain: chain(twin), anchors }).by).toBe('manual')
        expect(refusal({ chain: chain(twin), anchors, blocked: [blocked] })).toContain(sha256Hex(blocked.der))
        expect(refusal({ chain: chain(blocked), anchors, blocked: [twin] })).toContain(sha256Hex(twin.der))
      }
    }
  })

  test('a block counts for a certificate whose signature has no other form', async () => {
    const authority = await issueAuthority({ name: 'CN=Ed', keys: await makeKeys({ name: 'Ed25519', namedCurve: 'Ed25519' }) })
    const signer = await issue({ issuer: authority })
    expect(judge({ chain: [signer], anchors: [manual(authority)] }).by).toBe('manual')
    expect(refusal({ chain: [signer], anchors: [manual(authority)], blocked: [signer] })).toContain('You have blocked')
  })

  test('a blocked certificate signs no status list', () => {
    expect(signsStatusLists({ anchors: [listed(root)], blocked: [root] })).toBe(false)
    expect(signsStatusLists({ anchors: [listed(root)], blocked: [leaf] })).toBe(false)
  })
})

describe('many anchors', () => {
  /** Anchors that count how often they are looked at. */
  async function makeCrowd(count: number): Promise<{ index: AnchorIndex; looks: () => number }> {
    let looks = 0
    const crowd = await Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const anchor = listed(await issueAuthority({ name: `C=NL, CN=Crowd ${i}` }), { id: `crowd-${i}` })
        const get = () => {
          looks++
          return PID
        }
        return Object.defineProperty(anchor, 'trustedFor', { get })
      }),
    )
    const index = new AnchorIndex([...crowd, listed(root, { trustedFor: 'urn:else' })])
    looks = 0
    return { index, looks: () => looks }
  }

  test('no chain makes the judge look at anchors that it cannot lead to', async () => {
    const { index, looks } = await makeCrowd(50)
    const stranger = await issue({ name: 'CN=Stranger', issuer: await issueAuthority({ name: 'CN=Other' }) })
    expect(refusal({ chain: [stranger], anchors: index })).toContain('not one that you trust')
    expect(refusal({ anchors: index })).toContain('but for another type')
    expect(judge({ anchors: index, type: 'urn:else' }).by).toBe('listed')
    expect(looks()).toBe(0)
  })

  test('a certificate that is the anchor for many types costs a stranger with its name one signature', async () => {
    const chain = [await issue({ issuer: { ...root, keys: (await issueAuthority()).keys } })]
    const anchors = ['a', 'b', 'c', 'd'].map(type => listed(root, { id: type, trustedFor: type }))
    const verify = spyOn(X509Certificate.prototype, 'verify')
    expect(refusal({ chain, anchors })).toContain('No issuer is trusted for this type')
    expect(verify).toHaveBeenCalledTimes(1)
    verify.mockRestore()
  })

  test('an anchor is found whatever spelling of its name the chain uses (RFC 5280 7.1)', async () => {
    const respelt = nameOf([{ C: ['NL'] }, { CN: [{ utf8String: 'test  ROOT' }] }])
    const chain = [await issue({ issuer: { keys: root.keys, name: respelt } })]
    expect(judge({ chain, anchors: [listed(root)] }).by).toBe('listed')
  })

  test('the first anchor in order counts, found by name or by certificate', async () => {
    const anchors = [manual(leaf, { id: 'leaf' }), manual(root, { id: 'root' })]
    expect(judge({ anchors }).by).toBe('leaf')
    expect(judge({ anchors: anchors.toReversed() }).by).toBe('root')
  })
})
