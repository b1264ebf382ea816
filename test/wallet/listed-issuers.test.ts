// Documents of issuers that lists name, from the wallet's answer to the verdict: real lists, accepted as an operator's are.
import { afterAll, describe, expect, test } from 'bun:test'
import { deflateSync } from 'node:zlib'
import { browseAudit } from '../../src/audit/browse.ts'
import { sha256Hex } from '../../src/base/hash.ts'
import { signJwt } from '../../src/sandbox/es256.ts'
import { block, unblock } from '../../src/trust/blocks.ts'
import { refreshSource } from '../../src/trust/lists/refresh.ts'
import { readSources, removeSource } from '../../src/trust/lists/sources.ts'
import { readEvents } from '../../src/verifications/timeline.ts'
import { cleanUp, NOON, startApp } from '../helpers/app.ts'
import { DAY_MS, issueAuthority } from '../helpers/certificates.ts'
import { AROUND_NOON, forgeSigner, MDL, newLeaf, newRoot, PID, type Signer, signerFrom, trust } from '../helpers/forger.ts'
import { hostLists } from '../helpers/list-host.ts'
import {
  addList,
  ageListOf,
  DATES,
  NEXT_UPDATE,
  operator,
  pidListOf,
  presentMdoc,
  presentPid,
  providerOf,
  vicalOf,
} from '../helpers/listed-issuers.ts'
import { LOTE, makeLote, SERVICE, STATUS } from '../trust-lists/make.ts'
import { DEPRECATED, RECOGNIZED } from '../trust-lists/make-xml.ts'

afterAll(cleanUp)

const HOUR_MS = 3_600_000
const GRACE_MS = 7 * DAY_MS

const host = await hostLists()
/** Shared: each test begins without lists, and no two have an issuer in common. */
const app = await startApp({
  resolve: async () => ['127.0.0.1'],
  config: { egressAllow: [host.allow], extraCaFile: host.caFile },
})

async function start(on = app) {
  for (const { id } of await readSources(on.deps)) await removeSource(on.deps, id, 'test')
  const { id, key, liveKey } = await on.tenant()
  return { app: on, tenantId: id, key, live: { app: on, key: liveKey } }
}

describe('43: the dates of a list', () => {
  const WARNING = 'The list that names this issuer has been out of date since 2026-03-14T12:00:00Z.'

  /** One list on a service of its own, whose clock the tests move. */
  async function setUp() {
    const party = await start(await startApp())
    const issuer = await forgeSigner()
    const { id } = await addList(party.app, pidListOf([providerOf(issuer)]))
    return { party, issuer, source: id }
  }
  const listed = setUp()

  /** The documents are made for the days around noon. */
  async function judgedAt(at: number, format: 'sd-jwt' | 'mdoc') {
    const { party, issuer, source } = await listed
    party.app.clock.set(at)
    const judged = format === 'sd-jwt' ? presentPid(party, issuer) : presentMdoc(party, issuer, 'eu.europa.ec.eudi.pid.1')
    return { source, ...(await judged) }
  }

  test.each(['sd-jwt', 'mdoc'] as const)('43: %s: an issuer of a current list completes without a finding', async format => {
    expect(await judgedAt(NEXT_UPDATE - 1, format)).toMatchObject({ outcome: 'completed', says: '' })
  })

  test.each([
    ['sd-jwt', NEXT_UPDATE + HOUR_MS],
    ['mdoc', NEXT_UPDATE + HOUR_MS],
    ['sd-jwt', NEXT_UPDATE + GRACE_MS - 1],
    ['mdoc', NEXT_UPDATE + GRACE_MS - 1],
  ] as const)('43: %s: in the grace of its list an issuer completes with a warning (%d)', async (format, at) => {
    expect(await judgedAt(at, format)).toMatchObject({ outcome: 'completed', says: WARNING })
  })

  test.each(['sd-jwt', 'mdoc'] as const)(
    '43: %s: at the end of its list an issuer fails, and the finding names list and command',
    async format => {
      const { source, outcome, says } = await judgedAt(NEXT_UPDATE + GRACE_MS, format)
      expect(outcome).toBe('issuer_untrusted')
      expect(says).toBe(
        `The list that names this issuer (PID list) ended on 2026-03-21T12:00:00Z: get a newer one with 'vidimus trust source refresh ${source}'.`,
      )
    },
  )

  test('42: a machine clock that was set back does not revive an ended list', async () => {
    const { party, issuer } = await listed
    party.app.clock.set(NEXT_UPDATE + GRACE_MS)
    const { deps } = party.app
    const { wall } = deps
    deps.wall = () => NOON
    expect((await presentPid(party, issuer)).says).toContain('(PID list) ended on')
    deps.wall = wall
  })
})

describe('an entry of a list', () => {
  test('49: an issuer of a VICAL that names it for PIDs is trusted for its photo IDs only, until the operator allows PIDs', async () => {
    const party = await start()
    const issuer = await forgeSigner()
    const pid = 'eu.europa.ec.eudi.pid.1'
    const photoId = 'org.iso.23220.photoID.1'
    const list = vicalOf([{ certificate: issuer.root, docTypes: [MDL, photoId, pid] }])
    const { id } = await addList(party.app, list, { kind: 'vical' })
    expect((await presentMdoc(party, issuer, photoId)).outcome).toBe('completed')
    const refused = await presentMdoc(party, issuer, pid)
    expect(refused.outcome).toBe('issuer_untrusted')
    expect(refused.says).toContain('but for another type of credential')
    await removeSource(party.app.deps, id, 'test')
    await addList(party.app, list, { kind: 'vical', types: [pid] })
    expect((await presentMdoc(party, issuer, pid)).outcome).toBe('completed')
  })

  test('50: a PID provider of Norway is trusted for PIDs of the EU and of Norway, not for those of Germany', async () => {
    const party = await start()
    const issuer = await forgeSigner()
    await addList(party.app, pidListOf([providerOf(issuer, 'NO')]))
    for (const vct of [PID, 'urn:eudi:pid:no:1', 'urn:eudi:pid:no:2'])
      expect((await presentPid(party, issuer, { vct })).outcome).toBe('completed')
    for (const vct of ['urn:eudi:pid:de:1', 'urn:eudi:pid:norge:1', 'urn:eudi:pid:2']) {
      const { outcome, says } = await presentPid(party, issuer, { vct })
      expect({ vct, outcome }).toEqual({ vct, outcome: 'issuer_untrusted' })
      expect(says).toContain('for another type')
    }
  })

  test('51: a certificate that is listed for revocation signs status lists, not documents', async () => {
    const party = await start()
    const [issuer, revoker, stranger] = [await forgeSigner(), await forgeSigner(), await forgeSigner()]
    const entity = {
      name: 'Provider',
      role: 'NO',
      services: [
        { type: SERVICE.pidIssuance, certificates: [issuer.root] },
        { type: SERVICE.pidRevocation, certificates: [revoker.root] },
      ],
    }
    await addList(party.app, pidListOf([entity]))

    const refused = await presentPid(party, revoker)
    expect(refused.outcome).toBe('issuer_untrusted')
    expect(refused.says).toBe('PID list names this issuer for status lists only, not for documents.')

    const withStatusBy = async (by: Signer, path: string) => {
      const uri = host.url(path)
      const lists = await statusList(by, uri)
      host.answer(() => new Response(lists, { headers: { 'content-type': 'application/statuslist+jwt' } }))
      return (await presentPid(party, issuer, { payload: { status: { status_list: { idx: 3, uri } } } })).outcome
    }
    expect(await withStatusBy(revoker, '/revoker')).toBe('completed')
    expect(await withStatusBy(issuer, '/issuer')).toBe('completed')
    expect(await withStatusBy(stranger, '/stranger')).toBe('status_unknown')
    await block(party.app.deps, { environment: 'test', fingerprint: sha256Hex(revoker.root), reason: 'Key lost' }, 'test')
    expect(await withStatusBy(revoker, '/revoker')).toBe('status_unknown')
  })

  test('52: a deprecated issuer of the age list is refused as withdrawn, with the date', async () => {
    const party = await start()
    const [good, gone] = [await forgeSigner(), await forgeSigner()]
    const since = NOON - 3 * DAY_MS
    const list = ageListOf([
      { certificate: good.root, status: RECOGNIZED },
      { certificate: gone.root, status: DEPRECATED, since },
    ])
    await addList(party.app, list, { kind: 'etsi-xml', label: 'Age list' })
    expect((await presentMdoc(party, good, 'eu.europa.ec.av.1')).outcome).toBe('completed')
    const refused = await presentMdoc(party, gone, 'eu.europa.ec.av.1')
    expect(refused.outcome).toBe('issuer_untrusted')
    expect(refused.says).toBe('Age list has withdrawn this issuer since 2026-03-01T12:00:00Z.')
  })

  test('52: a provider of public attestations is trusted for what the operator names alone', async () => {
    const party = await start()
    const issuer = await forgeSigner()
    const service = { type: SERVICE.pubEaaIssuance, status: STATUS.notified, certificates: [issuer.root] }
    const list = makeLote({ type: LOTE.pubEaa, entities: [{ services: [service] }], ...DATES }, operator)
    expect(addList(party.app, list)).rejects.toThrow('no entry counts')
    await addList(party.app, list, { types: ['urn:example:diploma:1'] })
    expect((await presentPid(party, issuer, { vct: 'urn:example:diploma:1' })).outcome).toBe('completed')
    expect((await presentPid(party, issuer)).says).toContain('for another type')
  })

  test('52: an entry of the history of a service counts for nothing', async () => {
    const party = await start()
    const [issuer, former] = [await forgeSigner(), await forgeSigner()]
    const past = { ServiceDigitalIdentity: { X509Certificates: [{ val: Buffer.from(former.root).toString('base64') }] } }
    const history = [{ ServiceTypeIdentifier: SERVICE.pidIssuance, ServiceStatus: STATUS.notified, ...past }]
    await addList(party.app, pidListOf([providerOf(issuer, 'NO', { history })]))
    expect((await presentPid(party, issuer)).outcome).toBe('completed')
    const { outcome, says } = await presentPid(party, former)
    expect(outcome).toBe('issuer_untrusted')
    expect(says).toContain('is not one that you trust')
  })

  test("53: a test list's issuer is a stranger in live sessions, and the other way round", async () => {
    const { key, live } = await start()
    const [tested, real] = [await forgeSigner(), await forgeSigner()]
    await addList(app, pidListOf([providerOf(tested)]))
    await addList(app, pidListOf([providerOf(real)]), { environment: 'live' })
    expect((await presentPid({ app, key }, tested)).outcome).toBe('completed')
    expect((await presentPid(live, real)).outcome).toBe('completed')
    expect((await presentPid(live, tested)).outcome).toBe('issuer_untrusted')
    expect((await presentPid({ app, key }, real)).outcome).toBe('issuer_untrusted')
  })

  test('a list for the operator’s own papers vouches for no document', async () => {
    const party = await start()
    const [issuer, authority] = [await forgeSigner(), await forgeSigner()]
    await addList(party.app, pidListOf([providerOf(issuer)]))
    const service = { type: SERVICE.wrpacIssuance, certificates: [authority.root] }
    const list = makeLote({ type: LOTE.wrpac, entities: [{ services: [service] }], ...DATES }, operator)
    await addList(party.app, list, { use: 'relying_party' })
    expect((await presentPid(party, authority)).outcome).toBe('issuer_untrusted')
  })
})

/** All valid. */
function statusList({ chain, key }: Signer, uri: string): Promise<string> {
  const header = { typ: 'statuslist+jwt', x5c: chain.map(der => Buffer.from(der).toString('base64')) }
  const lst = deflateSync(new Uint8Array(16)).toString('base64url')
  return signJwt(key, header, { sub: uri, iat: Math.floor(NOON / 1000) - 60, ttl: 60, status_list: { bits: 1, lst } })
}

describe('56: blocks', () => {
  async function makeChain() {
    const root = await newRoot()
    const middle = await issueAuthority({ ...AROUND_NOON, name: 'C=UT, CN=Forged Middle', issuer: root })
    const leaf = await newLeaf(middle)
    return { parts: { root, middle, leaf }, signer: await signerFrom(leaf, { above: [middle], root }) }
  }

  test.each(['root', 'middle', 'leaf'] as const)(
    '56: a block of the %s refuses a listed issuer and one of the operator, and its end restores both',
    async part => {
      const party = await start()
      const { parts, signer } = await makeChain()
      const source = await addList(party.app, pidListOf([providerOf(signer)]))
      const refused = { environment: 'test' as const, fingerprint: sha256Hex(parts[part].der), reason: 'Key lost' }
      for (const named of ['by the list', 'by the operator']) {
        if (named === 'by the operator') {
          await removeSource(party.app.deps, source.id, 'test')
          await trust(party.app, signer)
        }
        expect((await presentPid(party, signer)).outcome).toBe('completed')
        await block(party.app.deps, refused, 'test')
        const { outcome, says } = await presentPid(party, signer)
        expect({ named, outcome }).toEqual({ named, outcome: 'issuer_untrusted' })
        expect(says).toContain(`'vidimus trust unblock ${refused.fingerprint} --env test'`)
        await unblock(party.app.deps, refused, 'test')
        expect((await presentPid(party, signer)).outcome).toBe('completed')
      }
    },
  )

  test('56: a block in test does not count in live, and an update of the list does not end a block', async () => {
    const { key, live } = await start()
    const issuer = await forgeSigner()
    const { id } = await addList(app, pidListOf([providerOf(issuer)]))
    await addList(app, pidListOf([providerOf(issuer)]), { environment: 'live' })
    await block(app.deps, { environment: 'test', fingerprint: sha256Hex(issuer.root), reason: 'Key lost' }, 'test')
    expect((await presentPid({ app, key }, issuer)).outcome).toBe('issuer_untrusted')
    expect((await presentPid(live, issuer)).outcome).toBe('completed')
    const bytes = pidListOf([providerOf(issuer)], { sequence: 8, issuedAt: NOON })
    await refreshSource(app.deps, id, { bytes, actor: 'test' })
    expect((await presentPid({ app, key }, issuer)).outcome).toBe('issuer_untrusted')
  })
})

describe('the record of who vouched', () => {
  test('the timeline and the audit record name anchor and list; of an issuer of the operator, the anchor alone', async () => {
    const party = await start()
    const { tenantId } = party
    const [listed, manual, stranger] = [await forgeSigner(), await forgeSigner(), await forgeSigner()]
    const source = await addList(app, pidListOf([providerOf(listed)]))
    await trust(app, manual)
    const anchor = expect.stringMatching(/^anc_/)
    const byList = { anchor, source: source.id, sequence: 7, issued_at: '2026-03-03T12:00:00.000Z' }
    for (const [signer, trusted] of [
      [listed, [byList]],
      [manual, [{ anchor }]],
      [stranger, []],
    ] as const) {
      const { id } = await presentPid(party, signer)
      const posted = (await readEvents(app.deps, { id, tenantId })).find(({ event }) => event === 'response_posted')
      const findings = posted?.event === 'response_posted' ? posted.details.findings : []
      expect(findings.flatMap(({ trust: by }) => by ?? [])).toEqual([...trusted])
      const { records } = await browseAudit(app.deps, { tenantId, limit: 1 })
      expect(records[0]?.details?.id).toBe(id)
      expect(records[0]?.details?.trust).toEqual(trusted.length > 0 ? [...trusted] : undefined)
    }
  })

  test('a document that only copied the certificates of an issuer has no anchor in its record', async () => {
    const party = await start()
    const { tenantId } = party
    const [listed, thief] = [await forgeSigner(), await forgeSigner()]
    await addList(app, pidListOf([providerOf(listed)]))
    const { outcome } = await presentPid(party, listed, { key: thief.key })
    const { records } = await browseAudit(app.deps, { tenantId, limit: 1 })
    expect([outcome, records[0]?.details?.trust]).toEqual(['signature_invalid', undefined])
  })

  test('a finished result stays as it is when its issuer leaves the list', async () => {
    const party = await start()
    const issuer = await forgeSigner()
    const { id } = await addList(party.app, pidListOf([providerOf(issuer)]))
    const { id: session } = await presentPid(party, issuer)
    await refreshSource(party.app.deps, id, { bytes: pidListOf([], { sequence: 8, issuedAt: NOON }), actor: 'test' })
    expect((await presentPid(party, issuer)).outcome).toBe('issuer_untrusted')
    const { body } = await party.app.call<{ status: string }>('GET', `/v1/verifications/${session}`, { key: party.key })
    expect(body.status).toBe('completed')
  })
})
