// Answers that hold more than one option needs: rows P40 and P41. A request of version 1.0 cannot say "or".
import { describe, expect, test } from 'bun:test'
import type { VerificationDetail } from '../../src/dashboard/verifications/schema.ts'
import { type Cbor, cborMap, decodeCbor, encodeCbor } from '../../src/sandbox/cbor.ts'
import type { Holder } from '../../src/sandbox/credential.ts'
import { startWithTenant } from '../helpers/app.ts'
import { setUpOwner } from '../helpers/dashboard.ts'
import {
  type ForgedElement,
  forgeMdoc,
  forgeSigner,
  holderWith,
  MDL_NAMESPACE,
  type MdocWish,
  type Signer,
  trust,
} from '../helpers/forger.ts'
import { bytesOf, type PhoneOptions, pass, readOf, readPhone } from '../helpers/in-person.ts'
import { cheats } from '../helpers/phone-cheats.ts'

const { app, key, id: tenantId } = await startWithTenant()
const shop = { app, key }
const boss = await setUpOwner(app)
const [known, stranger] = [await forgeSigner(), await forgeSigner()]
await trust(app, known)

/** The types of age_over_18, in the order of its query, with the name space of each. */
const TYPES = {
  av: ['eu.europa.ec.av.1', 'eu.europa.ec.av.1'],
  mdl: ['org.iso.18013.5.1.mDL', MDL_NAMESPACE],
  photoid: ['org.iso.23220.photoID.1', 'org.iso.23220.1'],
} as const
type Type = keyof typeof TYPES

/** In days from now; the usual one is good. */
const EXPIRED = { validity: { until: -0.5 } }

type Wish = MdocWish & { by?: Signer; isOfAge?: boolean }

const holderOf = (wishes: Partial<Record<Type, Wish>>): Promise<Holder> =>
  holderWith(
    async ownKey =>
      await Promise.all(
        Object.entries(wishes).map(([type, { by = known, isOfAge = true, ...wish }]) => {
          const [doctype, namespace] = TYPES[type as Type]
          const elements: ForgedElement[] = [[namespace, 'age_over_18', isOfAge]]
          if (type === 'mdl') elements.push([namespace, 'issuing_country', 'UT'])
          return forgeMdoc(by, ownKey, { doctype, elements, ...wish })
        }),
      ),
  )

const judged = async (wishes: Partial<Record<Type, Wish>>, body: object = {}, options: PhoneOptions = {}) =>
  await judgedOf(await holderOf(wishes), body, options)

async function judgedOf(holder: Holder, body: object, options: PhoneOptions) {
  const { id, answer } = await readPhone(shop, holder, body, options)
  return await told(id, answer)
}

async function told(id: string, answer: Uint8Array) {
  await pass(shop, id, answer)
  const { status, error, credentials = [], claims } = await readOf(shop, id)
  const { timeline } = (await boss.get<VerificationDetail>(`/tenants/${tenantId}/verifications/${id}?environment=test`)).body
  const posted = timeline.find(({ event }) => event === 'response_posted') as { dropped?: number; credentials: unknown[] }
  return {
    outcome: error?.code ?? status,
    types: credentials.map(({ doctype_or_vct }) => doctype_or_vct),
    dropped: posted.dropped,
    checked: posted.credentials.length,
    claims,
  }
}

describe('an answer to version 1.0 with more documents than one option needs', () => {
  const [av, mdl, photoid] = [TYPES.av[0], TYPES.mdl[0], TYPES.photoid[0]]
  const rows: [string, Partial<Record<Type, Wish>>, object][] = [
    ['three good ones: the first counts', { av: {}, mdl: {}, photoid: {} }, { outcome: 'completed', types: [av], dropped: 2 }],
    [
      'sent in another order: the order of the query counts',
      { photoid: {}, mdl: {} },
      { outcome: 'completed', types: [mdl], dropped: 1 },
    ],
    ['the first expired, the second good', { av: EXPIRED, mdl: {} }, { outcome: 'completed', types: [mdl], dropped: 1 }],
    ['the first of a stranger, the second good', { av: { by: stranger }, mdl: {} }, { outcome: 'completed', types: [mdl] }],
    ['the first below the age, the second good', { av: { isOfAge: false }, mdl: {} }, { outcome: 'completed', types: [mdl] }],
    [
      'all bad: the first tells why',
      { av: EXPIRED, mdl: { by: stranger } },
      { outcome: 'credential_expired', types: [av], dropped: 1 },
    ],
    ['one alone', { mdl: {} }, { outcome: 'completed', types: [mdl], dropped: undefined }],
  ]
  test.each(rows)('P40: %s', async (_, wishes, expected) => {
    expect(await judged(wishes)).toMatchObject({ checked: 1, ...expected })
  })

  test('P40: claims of documents beyond the one that counts are nowhere', async () => {
    const query = {
      credentials: [
        { id: 'a', format: 'mso_mdoc', meta: { doctype_value: av }, claims: [{ path: [av, 'age_over_18'] }] },
        { id: 'b', format: 'mso_mdoc', meta: { doctype_value: mdl }, claims: [{ path: [MDL_NAMESPACE, 'issuing_country'] }] },
      ],
      credential_sets: [{ options: [['a'], ['b']] }],
    }
    const both = await judged({ av: {}, mdl: {} }, { template: undefined, query })
    expect(both).toMatchObject({ outcome: 'completed', claims: { age_over_18: true }, types: [av] })
    expect(JSON.stringify(both.claims)).not.toContain('UT')
  })

  test('P40: two sets are answered by one option each, and a bad document of an optional set is dropped', async () => {
    const age = (id: string, doctype: string, namespace: string) => ({
      id,
      format: 'mso_mdoc',
      meta: { doctype_value: doctype },
      claims: [{ path: [namespace, 'age_over_18'] }],
    })
    const query = {
      credentials: [age('av', ...TYPES.av), age('mdl', ...TYPES.mdl), age('photoid', ...TYPES.photoid)],
      credential_sets: [{ options: [['av'], ['mdl']] }, { options: [['photoid']], required: false }],
    }
    const body = { template: undefined, query }
    expect(await judged({ av: EXPIRED, mdl: {}, photoid: {} }, body)).toMatchObject({ types: [mdl, photoid], dropped: 1 })
    expect(await judged({ mdl: {}, photoid: EXPIRED }, body)).toMatchObject({ outcome: 'completed', types: [mdl], dropped: 1 })
    expect(await judged({ photoid: {} }, body)).toMatchObject({ outcome: 'query_not_satisfied' })
  })
})

test('a document that is shown again without what was asked, as for the two requests for a PID, counts once', async () => {
  const [doctype, german] = ['eu.europa.ec.eudi.pid.1', 'eu.europa.ec.eudi.pid.de.1']
  const empty = cborMap({ docType: doctype, issuerSigned: cborMap({ nameSpaces: new Map() }) })
  for (const namespace of [german, doctype]) {
    const pid = await holderWith(async own => [
      await forgeMdoc(known, own, { doctype, elements: [[namespace, 'age_over_18', true]] }),
    ])
    expect(await judgedOf(pid, {}, { mutations: { moreDocuments: [empty, empty] } })).toMatchObject({
      outcome: 'completed',
      dropped: 2,
    })
  }
})

test('a phone that shows a document once answers the first of its claim sets, by version 1.0 and by use cases', async () => {
  const claims = ['age_over_18', 'issuing_country'].map(name => ({ id: name, path: [MDL_NAMESPACE, name] }))
  const claim_sets = claims.map(({ id }) => [id])
  const mdl = { id: 'mdl', format: 'mso_mdoc', meta: { doctype_value: TYPES.mdl[0] }, claims, claim_sets }
  const body = { template: undefined, query: { credentials: [mdl] } }
  for (const version of ['1.0', '1.1'] as const) {
    const { outcome, claims: shown, types } = await judged({ mdl: {} }, body, { version })
    expect([outcome, shown, types]).toEqual(['completed', { age_over_18: true }, [TYPES.mdl[0]]])
  }
})

describe('P37: claim sets of one type, each answered with a document in version 1.0,', () => {
  const claims = ['age_over_18', 'issuing_country'].map(name => ({ id: name, path: [MDL_NAMESPACE, name] }))
  const mdl = { id: 'mdl', format: 'mso_mdoc', meta: { doctype_value: TYPES.mdl[0] }, claims }
  const query = { credentials: [{ ...mdl, claim_sets: claims.map(({ id }) => [id]) }] }
  const body = { template: undefined, query }

  /** A phone that shows these driving licences, in this order. */
  async function shown(...wishes: (Wish & { lacks?: 'age_over_18' | 'issuing_country' | 'both' })[]) {
    const { id, phone, request } = await readPhone(shop, await holderOf({ mdl: {} }), body)
    const opened = await phone.open(bytesOf(request.message))
    expect(opened.documents.map(({ places }) => places)).toEqual(claims.map(({ path }) => [path as never]))
    const documents: Cbor[] = []
    let holder!: Holder
    for (const { lacks, by = known, ...wish } of wishes) {
      if (lacks === 'both') {
        documents.push(cborMap({ docType: TYPES.mdl[0], issuerSigned: cborMap({ nameSpaces: new Map() }) }))
        continue
      }
      const all: ForgedElement[] = [
        [MDL_NAMESPACE, 'age_over_18', true],
        [MDL_NAMESPACE, 'issuing_country', 'UT'],
      ]
      const elements = all.filter(([, name]) => name !== lacks)
      holder = await holderWith(async own => [await forgeMdoc(by, own, { doctype: TYPES.mdl[0], elements, ...wish })])
      const seal = async (response: Uint8Array) => {
        documents.push(...((decodeCbor(response) as Map<string, Cbor[]>).get('documents') ?? []))
        return response
      }
      await opened.answer(holder, { mutations: { seal } })
    }
    const plaintext = encodeCbor(cborMap({ version: '1.0', documents, status: 0 }))
    return await told(id, await opened.answer(holder, { mutations: cheats({ plaintext }) }))
  }

  test('are judged in turn: one that is shown twice counts once, for the first set', async () => {
    expect(await shown({}, {})).toMatchObject({ outcome: 'completed', claims: { age_over_18: true }, checked: 1, dropped: 1 })
  })

  test('are judged in the order of the sets, and the first that holds is the answer', async () => {
    const second = { outcome: 'completed', dropped: 1, checked: 1 }
    expect(await shown(EXPIRED, {})).toMatchObject({ ...second, claims: { age_over_18: true } })
    expect(await shown({ by: stranger, lacks: 'issuing_country' }, { lacks: 'age_over_18' })).toMatchObject({
      ...second,
      claims: { issuing_country: 'UT' },
    })
    expect(await shown({ lacks: 'age_over_18' }, { lacks: 'issuing_country' })).toMatchObject({
      ...second,
      claims: { age_over_18: true },
    })
  })

  test('fail with the reason of the first if none holds, and are malformed if there are more of them than sets', async () => {
    expect(await shown(EXPIRED, { by: stranger })).toMatchObject({ outcome: 'credential_expired', dropped: 1 })
    expect(await shown({ lacks: 'both' }, { ...EXPIRED, lacks: 'age_over_18' })).toMatchObject({
      outcome: 'credential_expired',
      dropped: 1,
    })
    expect(await shown({}, {}, {})).toMatchObject({ outcome: 'presentation_malformed' })
  })
})

test('P41: a phone that knows use cases shows one option, which has to be good as in all other channels', async () => {
  const extended = { version: '1.1' } as const
  expect(await judged({ mdl: {} }, {}, extended)).toMatchObject({ outcome: 'completed', dropped: undefined })
  const expired = await judged({ av: EXPIRED, mdl: {} }, {}, extended)
  expect(expired).toMatchObject({ outcome: 'credential_expired', types: [TYPES.av[0]], dropped: undefined })
})
