// @owf/mdoc as the phone: its engagement, its transcript, its answer. Its MAC leaves out a part of what is authenticated, so that
// is proven by Annex D.
import { expect, test } from 'bun:test'
import { DeviceEngagement, DeviceRequest, EReaderKey, SessionTranscript } from '@owf/mdoc'
import { deviceRequestParts } from '../../src/openid4vp/exchange/device-request.ts'
import { requestInPerson } from '../../src/openid4vp/exchange/reader-auth.ts'
import { Findings } from '../../src/openid4vp/finding.ts'
import { MdocReader } from '../../src/openid4vp/mdoc/mdoc.ts'
import { type Engagement, readEngagement } from '../../src/proximity/engagement.ts'
import { establishment, macKeyOf, openAnswer, openSession } from '../../src/proximity/session.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { makePhone, takeEstablishment, textOf } from '../helpers/engagement.ts'
import { NOW } from '../helpers/mdoc.ts'
import { OWF_CLAIMS, presentByOwf } from '../helpers/owf-mdoc.ts'

test.each(['P-256', 'P-384', 'P-521'] as const)('@owf/mdoc on %s is engaged, asked and read', async curve => {
  const phone = await makePhone(curve)
  const deviceEngagement = DeviceEngagement.decode(phone.bytes)
  const engagement = (await readEngagement(textOf(deviceEngagement.encode()))) as Engagement
  expect(engagement.bytes).toEqual(new Uint8Array(phone.bytes))

  const session = await openSession(engagement)
  const parts = deviceRequestParts(BUILTIN_TEMPLATES.get('age_over_18')!.query)!
  const { request } = await requestInPerson(parts, session.transcript, { all: [] }, engagement)
  const met = await takeEstablishment(phone, establishment(session, request))
  expect(DeviceRequest.decode(new Uint8Array(met.request)).docRequests.length).toBeGreaterThan(3)

  const eReaderKey = EReaderKey.decode(met.readerKeyBytes)
  const transcript = SessionTranscript.forQrHandover({ deviceEngagement, eReaderKey })
  expect(Buffer.from(transcript.encode()).toString('hex')).toBe(Buffer.from(session.transcript).toString('hex'))

  const answer = met.seal((await presentByOwf(curve, transcript)).encode())
  const findings = new Findings(() => NOW)
  const credential = await new MdocReader().readDeviceResponse(findings, openAnswer(session.skDevice, answer)!, {
    now: NOW,
    transcript: session.transcript,
    macKey: macKeyOf(session.readerKey, session.transcript),
    holderBindingRequired: true,
  })
  expect(findings.failures).toEqual([])
  expect(credential?.claims).toEqual(OWF_CLAIMS)
})
