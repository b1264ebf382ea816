import { expect, test } from 'bun:test'
import vectors from '../../src/sdk/webhook-vectors.json'
import { signatureHeaders } from '../../src/webhooks/delivery/sign.ts'

const SECRET = 'whsec_YSB3ZWJob29rIHNlY3JldCBmb3IgdGVzdHMsICMx'

test('signatures are those of the published vectors', () => {
  // Bodies that are no text are never sent.
  const signed = vectors.sign.flatMap(({ payload, ...rest }) => (payload === undefined ? [] : [{ payload, ...rest }]))
  const standard = vectors.standard.flatMap(({ payload, ...rest }) => (payload === undefined ? [] : [{ payload, ...rest }]))
  expect([signed.length, standard.length].every(count => count >= 4)).toBe(true)
  for (const { header, ...signing } of signed)
    expect(signatureHeaders({ id: 'whd_1', ...signing })['x-service-signature']).toBe(header)
  for (const { signature, ...signing } of standard)
    expect(signatureHeaders(signing)).toMatchObject({
      'webhook-id': signing.id,
      'webhook-timestamp': String(signing.timestamp),
      'webhook-signature': signature,
    })
})

test('nothing is signed without a secret', () => {
  const signing = { id: 'whd_1', payload: '{}', timestamp: 1772625600 }
  expect(() => signatureHeaders({ ...signing, secrets: [] })).toThrow('no webhook secret')
  expect(signatureHeaders({ ...signing, secrets: [SECRET] })['x-service-signature']).toStartWith('t=1772625600,v1=')
})
