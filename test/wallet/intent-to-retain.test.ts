// What wallets are told about keeping: as the shop does it, whatever a template says.
import { afterAll, describe, expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import type { CredentialQuery, DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import type { Profile } from '../../src/openid4vp/exchange/request-object.ts'
import { fromBase64 } from '../../src/sandbox/bytes.ts'
import { decodeCbor, type Tag } from '../../src/sandbox/cbor.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import { changeTenant } from '../../src/tenants/settings.ts'
import { cleanUp, createVerification, startWithTenant } from '../helpers/app.ts'
import { ask, listOrigin } from '../helpers/dc.ts'
import { makePhone, takeEstablishment } from '../helpers/engagement.ts'
import { bytesOf, scan } from '../helpers/in-person.ts'

afterAll(cleanUp)

const NAME_SPACE = 'org.iso.18013.5.1'
const OWN: DcqlQuery = {
  credentials: [
    {
      id: 'mdl',
      format: 'mso_mdoc',
      meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
      claims: [
        { path: [NAME_SPACE, 'age_over_18'], intent_to_retain: true },
        { path: [NAME_SPACE, 'portrait'] },
        { path: [NAME_SPACE, 'family_name'], intent_to_retain: false },
      ],
    },
  ],
}

const { app, key, id: tenantId } = await startWithTenant()
await listOrigin(app, tenantId)
for (const profile of [undefined, 'eu-av'] as const)
  await saveTemplate(app.deps, { tenantId, key: profile ?? 'own', title: profile ?? 'own', query: OWN, profile }, 'boss')

const keepFor = (retentionDays: number | null) => changeTenant(app.deps, tenantId, { retentionDays }, 'boss')

const retainedIn = ({ credentials }: DcqlQuery): string[] => [
  ...new Set(
    credentials.flatMap(({ claims = [] }: CredentialQuery) =>
      claims.flatMap(each => (each.intent_to_retain ? [String(each.path[1])] : [])),
    ),
  ),
]

/** The elements that each channel says are kept. */
async function told(body: { template?: string; formats?: string[]; query?: DcqlQuery }) {
  const { id, wallet_uri } = await createVerification(app, key, body)
  const { searchParams } = new URL(wallet_uri!)
  const inLink = searchParams.get('dcql_query')
  const query = inLink ?? JSON.stringify(decodeJwt((await app.call('GET', `/wallet/request/${id}`)).text).dcql_query)
  const { body: asked } = await ask(app, id)
  const dataOf = (protocol: string) => asked.requests.find(each => each.protocol === protocol)?.data as never
  const { deviceRequest } = dataOf('org-iso-mdoc') as { deviceRequest: string }
  const unsigned = dataOf('openid4vp-v1-unsigned') as { dcql_query: DcqlQuery } | undefined
  const phone = await makePhone()
  const { message } = (await scan({ app, key }, id, phone.text)).body
  const { request } = await takeEstablishment(phone, bytesOf(message))
  return [
    retainedIn(JSON.parse(query)),
    retainedInDevice(deviceRequest),
    retainedInDevice(request.toString('base64url')),
    unsigned ? retainedIn(unsigned.dcql_query) : undefined,
  ]
}

function retainedInDevice(deviceRequest: string): string[] {
  const { docRequests } = Object.fromEntries(decodeCbor(fromBase64(deviceRequest)) as never) as {
    docRequests: Map<string, Tag>[]
  }
  const elements = docRequests.flatMap(each => {
    const items = decodeCbor(each.get('itemsRequest')!.value as Uint8Array) as unknown as Map<
      string,
      Map<string, Map<string, boolean>>
    >
    return [...items.get('nameSpaces')!.values()].flatMap(names => [...names].flatMap(([name, isKept]) => (isKept ? [name] : [])))
  })
  return [...new Set(elements)]
}

const everywhere = (...elements: string[]) => [elements, elements, elements, elements]

describe('an own template', () => {
  test('says what is kept, for longer than a day: the photo too, and no age', async () => {
    for (const days of [null, 2, 3650]) {
      await keepFor(days)
      expect(await told({ template: 'own' })).toEqual(everywhere('portrait', 'family_name'))
    }
  })

  test('says that nothing is kept in a shop that erases within a day', async () => {
    for (const days of [0, 1]) {
      await keepFor(days)
      expect(await told({ template: 'own' })).toEqual(everywhere())
    }
  })

  test('of the EU age app says so in its link', async () => {
    const inThree = async () => (await told({ template: 'eu-av' satisfies Profile })).slice(0, 3)
    await keepFor(null)
    expect(await inThree()).toEqual(Array(3).fill(['portrait', 'family_name']))
    await keepFor(1)
    expect(await inThree()).toEqual([[], [], []])
  })
})

describe('a built-in template', () => {
  test('that keeps the outcome only says that nothing is kept', async () => {
    await keepFor(null)
    for (const template of ['age_over_18', 'age_over_18_photo', 'age_over_18_photo_mdoc', 'age_over_18_or_birthdate_mdoc'])
      expect(await told({ template })).toEqual(everywhere())
  })

  test('that keeps claims without the photo says so', async () => {
    await keepFor(null)
    const [link, ...others] = await told({ template: 'driving_licence' })
    expect(link).toContain('document_number')
    expect(others).toEqual([link!, link!, link!])
    for (const body of [
      { template: 'photo_id' },
      { template: 'photo_id_mdoc' },
      { template: 'photo_id', formats: ['mso_mdoc'] },
    ]) {
      const [photo] = await told(body)
      expect(photo).toContain('family_name')
      expect(photo).not.toContain('portrait')
    }
  })
})

test("a request's own query stays as it is written", async () => {
  await keepFor(0)
  expect(await told({ template: undefined, query: OWN })).toEqual(everywhere('age_over_18'))
})
