// A phone that is not ours, over the routes: @owf/mdoc reads the request, makes the transcript, and presents; node:crypto seals.
import { expect, test } from 'bun:test'
import { DeviceEngagement, DeviceRequest, EReaderKey, SessionTranscript } from '@owf/mdoc'
import { type Cbor, decodeCbor, encodeCbor } from '../../src/sandbox/cbor.ts'
import { createVerification, startWithTenant } from '../helpers/app.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import { makePhone, takeEstablishment } from '../helpers/engagement.ts'
import { foreignWallet, MDL, type MdocDocument, PROOF_OF_AGE } from '../helpers/foreign-wallet.ts'
import { newLeaf, newRoot, signerFrom, trust } from '../helpers/forger.ts'
import { bytesOf, pass, readOf, scan } from '../helpers/in-person.ts'
import { cbor } from '../helpers/mdoc.ts'

// The library has no clock of its own to set.
const NOW = Date.now()
const AROUND_NOW = { notBefore: NOW - 30 * DAY_MS, notAfter: NOW + 300 * DAY_MS }

const { app, key } = await startWithTenant({ now: NOW })
const shop = { app, key }
const root = await newRoot(AROUND_NOW)
const signer = await signerFrom(await newLeaf(root, AROUND_NOW), { root })
await trust(app, signer)
const wallet = await foreignWallet(signer, NOW)

type Curve = Parameters<typeof makePhone>[0]

/** `signedFor`: the phone whose code the document is signed for. */
async function answerBy(
  document: MdocDocument,
  template: string,
  curve: Curve,
  { signedFor, copies = 1 }: { signedFor?: Uint8Array; copies?: number } = {},
) {
  const { id } = await createVerification(app, key, { template })
  const phone = await makePhone(curve)
  const { body } = await scan(shop, id, phone.text)
  const met = await takeEstablishment(phone, bytesOf(body.message))
  const { docRequests } = DeviceRequest.decode(new Uint8Array(met.request))
  const deviceEngagement = DeviceEngagement.decode(signedFor ?? phone.bytes)
  const transcript = SessionTranscript.forQrHandover({ deviceEngagement, eReaderKey: EReaderKey.decode(met.readerKeyBytes) })
  const docRequest = docRequests.find(({ itemsRequest }) => itemsRequest.docType === document.docType)!
  const presented = await wallet.presentMdoc(document, transcript, docRequest)
  const response = decodeCbor(bytesOf(presented)) as Map<string, Cbor>
  const documents = Array.from({ length: copies }, () => (response.get('documents') as Cbor[])[0]!)
  const sealed = met.seal(encodeCbor(new Map([...response, ['documents', documents]])))
  const { body: told } = await pass(shop, id, cbor({ data: sealed }))
  return { told, verification: await readOf(shop, id) }
}

test.each([
  ['eu_av_age_18', PROOF_OF_AGE, 'P-256', { age_over_18: true }],
  ['age_over_18', MDL, 'P-384', { age_over_18: true }],
  ['driving_licence', MDL, 'P-521', { family_name: 'Lovelace', given_name: 'Ada' }],
] as const)('an answer of @owf/mdoc in person to %s completes', async (template, document, curve, claims) => {
  const { told, verification } = await answerBy(document, template, curve)
  expect(told.status).toBe('completed')
  expect(verification.claims).toMatchObject(claims)
  expect(verification.credentials).toMatchObject([{ trusted: true, signature_valid: true, holder_binding_valid: true }])
})

test('a document that @owf/mdoc signed for the code of another phone is refused', async () => {
  const { bytes } = await makePhone()
  const { told, verification } = await answerBy(MDL, 'age_over_18', 'P-256', { signedFor: bytes })
  expect([told.status, verification.error?.code]).toEqual(['failed', 'holder_binding_invalid'])
})

test('P37: two whole documents of one type are malformed', async () => {
  const { told, verification } = await answerBy(MDL, 'age_over_18', 'P-256', { copies: 2 })
  expect([told.status, verification.error?.code]).toEqual(['failed', 'presentation_malformed'])
})
