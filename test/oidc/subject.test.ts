// The name of a person for a client: the same for the same person, and for nobody else.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash, createHmac, X509Certificate } from 'node:crypto'
import { changeClient } from '../../src/oidc/clients.ts'
import type { NewClient } from '../../src/oidc/schema.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import { addAnchors, readAnchors, removeAnchor } from '../../src/trust/settings.ts'
import { cleanUp, startApp, type TestApp } from '../helpers/app.ts'
import { issueAuthority, makeKeys, pemOf } from '../helpers/certificates.ts'
import { rowsOf } from '../helpers/database.ts'
import {
  AROUND_NOON,
  forgeSdJwt,
  forgeSigner,
  holderOfPid,
  holderWith,
  newLeaf,
  type Signer,
  signerFrom,
  trust,
} from '../helpers/forger.ts'
import { answerIn, begin, comeBack, exchange, makeClient, type Party, pageOf, readIdToken } from '../helpers/oidc.ts'
import { answerWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

const NAME = 'personal_administrative_number'
const NUMBER = 'UT-1990-0812-77'
const ACCOUNT = { templates: ['account'], subject: `claim:${NAME}`, cross_device: 'allowed' } satisfies Partial<NewClient>
const VCTS = ['urn:eudi:pid:1', 'urn:club:member:1']

let app: TestApp
let tenant: string
let party: Party
let signer: Signer

async function shop(): Promise<string> {
  const { id } = await app.tenant()
  const of = (vct: string, i: number) => ({
    id: `doc${i}`,
    format: 'dc+sd-jwt',
    meta: { vct_values: [vct] },
    claims: [{ path: [NAME] }],
  })
  const query = { credentials: VCTS.map(of), credential_sets: [{ options: [['doc0'], ['doc1']] }] }
  await saveTemplate(app.deps, { tenantId: id, key: 'account', title: 'Account', query: query as never }, 'test')
  return id
}

beforeAll(async () => {
  app = await startApp()
  tenant = await shop()
  signer = await forgeSigner()
  await trust(app, signer, { label: 'Registry' })
  party = await makeClient({ app, tenant }, ACCOUNT)
})

/** Undefined for one who is not let in. */
async function subOf(of: Party, value: unknown = NUMBER, by: Signer = signer, vct = VCTS[0]!): Promise<string | undefined> {
  const begun = await begin(of)
  const claims = value === undefined ? {} : { [NAME]: value }
  const holder =
    vct === VCTS[0] ? await holderOfPid(by, claims) : await holderWith(async key => [await forgeSdJwt(by, key, { vct, claims })])
  const answered = await answerWith(app, holder, (await pageOf(begun)).wallet_uri!)
  const code = /#response_code=([\w-]+)/.exec(JSON.stringify(answered))?.[1]
  const answer = answerIn((await comeBack(begun, code)).body.location)
  if (answer.error) {
    expect(answer).toMatchObject({ error: 'access_denied', error_description: expect.stringMatching(/^not_accepted: /) })
    return undefined
  }
  const { body } = await exchange(of, { code: answer.code, verifier: begun.verifier })
  return (await readIdToken(of, body.id_token)).claims.sub
}

describe('a subject claim', () => {
  test('names the same person alike each time, by the number and not by how it is written', async () => {
    const sub = await subOf(party)
    expect(sub).toMatch(/^[\w-]{43}$/)
    expect(await subOf(party)).toBe(sub!)
    expect(await subOf(party, ` ${NUMBER}\n`)).toBe(sub!)
    expect(await subOf(party, 'Ze\u0301ro-1990')).toBe((await subOf(party, 'Z\u00e9ro-1990'))!)
  })

  test('names another person, client, tenant, environment or type differently', async () => {
    const live = await makeClient({ app, tenant, environment: 'live' }, ACCOUNT)
    await trust(app, signer, { environment: 'live' })
    const other = await makeClient({ app, tenant }, ACCOUNT)
    const elsewhere = await makeClient({ app, tenant: await shop() }, ACCOUNT)
    const subs = [
      await subOf(party),
      await subOf(party, 'UT-1990-0812-78'),
      await subOf(other),
      await subOf(elsewhere),
      await subOf(live),
      await subOf(party, NUMBER, signer, VCTS[1]),
    ]
    expect(subs).not.toContain(undefined)
    expect(new Set(subs).size).toBe(subs.length)
  })

  test('does not let the document of another authority in, whatever its name', async () => {
    const twin = await forgeSigner()
    await trust(app, twin, { label: 'Registry' })
    const sub = await subOf(party, NUMBER, twin)
    expect(sub).toBeString()
    expect(sub).not.toBe((await subOf(party))!)
  })

  test('stays when the authority has a new certificate of the same key, or one that continues the old', async () => {
    const keys = await makeKeys()
    const name = 'C=UT, CN=Registry of Utopia'
    const root = async (own = keys) => await issueAuthority({ ...AROUND_NOON, name, keys: own })
    const [first, renewed, turned] = [await root(), await root(), await root(await makeKeys())]
    const signerOf = async (of: typeof first) => signerFrom(await newLeaf(of), { root: of })
    const add = async (of: typeof first, continues?: string) =>
      (
        await addAnchors(
          app.deps,
          { pem: pemOf(of.der), environment: 'test', mode: 'pkix', ...(continues && { continues }) },
          'test',
        )
      )[0]!.id
    const id = await add(first)
    const sub = await subOf(party, NUMBER, await signerOf(first))
    const third = await add(turned, id)
    expect(await subOf(party, NUMBER, await signerOf(turned))).toBe(sub!)
    await removeAnchor(app.deps, id, 'test')
    expect(await subOf(party, NUMBER, await signerOf(turned))).toBe(sub!)
    await add(renewed)
    expect(await subOf(party, NUMBER, await signerOf(renewed))).toBe(sub!)
    await removeAnchor(app.deps, third, 'test')
    await add(turned)
    expect(await subOf(party, NUMBER, await signerOf(turned))).not.toBe(sub!)
    await expect(add(await root(await makeKeys()), 'anc_unknown')).rejects.toThrow('there is no anchor anc_unknown in test')
    expect((await readAnchors(app.deps)).length).toBeGreaterThan(2)
  })

  test.each([[12345678], ['short'], [' 12345 '], [''], [[NUMBER]], [{ number: NUMBER }]])(
    'that is %j lets nobody in',
    async value => {
      expect(await subOf(party, value)).toBeUndefined()
    },
  )

  test('cannot be guessed from what is presented without the secret', async () => {
    const sub = await subOf(party)
    const pieces = [party.client.id, NAME, NUMBER, VCTS[0]!, tenant, 'test', 'Registry']
    const texts = [
      NUMBER,
      JSON.stringify([NUMBER]),
      JSON.stringify({ [NAME]: NUMBER }),
      pieces.join(''),
      pieces.join('|'),
      JSON.stringify(pieces),
    ]
    const { publicKey } = new X509Certificate(signer.root)
    const authority = `key ${createHash('sha256')
      .update(publicKey.export({ format: 'der', type: 'spki' }))
      .digest('hex')}`
    texts.push(JSON.stringify([party.client.id, authority, VCTS[0], NAME, NUMBER]))
    for (const text of texts) {
      expect(sub).not.toBe(createHash('sha256').update(text).digest('base64url'))
      for (const key of ['', ...pieces]) expect(sub).not.toBe(createHmac('sha256', key).update(text).digest('base64url'))
    }
    expect(JSON.stringify(rowsOf(app, 'SELECT * FROM oidc_logins'))).not.toContain(sub!)
  })

  test('is changed only with the word rename, once somebody has logged in', async () => {
    const own = await makeClient({ app, tenant }, ACCOUNT)
    await changeClient(app.deps, own.client.id, { subject: 'session' }, 'test')
    await changeClient(app.deps, own.client.id, { subject: `claim:${NAME}`, cross_device: 'allowed' }, 'test')
    const sub = await subOf(own)
    const change = (more: object) => changeClient(app.deps, own.client.id, { subject: 'session', ...more }, 'test')
    await expect(change({})).rejects.toThrow('rename')
    expect(await change({ confirm: 'rename' })).toMatchObject({ subject: 'session', cross_device: 'allowed' })
    expect(await subOf(own)).not.toBe(sub!)
  })
})
