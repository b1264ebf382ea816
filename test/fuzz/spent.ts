// Makes a new thing for each case that uses one up, and removes what a case leaves behind.
import { DAILY_QUOTA_MAX } from '../../src/tenants/settings.ts'
import { PHONE_CODE } from '../helpers/id-routes.ts'
import { LISTED, PASSWORD } from './meanings.ts'
import type { Asked, Header, Stage } from './scene.ts'

export const QUERY = { credentials: [{ id: 'a', format: 'mso_mdoc', meta: { doctype_value: 'org.iso.18013.5.1.mDL' } }] }

/** A wallet that says no; gives the code of the redirect. */
export async function decline(must: Stage['ask'], id: string): Promise<string> {
  const form = new URLSearchParams({ error: 'access_denied', state: await stateOf(must, id) })
  const { redirect_uri = '' } = (await must('POST', `/wallet/response/${id}`, 'none', form)).body as { redirect_uri?: string }
  return redirect_uri.split('response_code=')[1] ?? ''
}

async function stateOf(must: Stage['ask'], id: string): Promise<string> {
  const { text } = await must('GET', `/wallet/request/${id}`, 'none')
  return JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString()).state
}

export type Prepared = { id?: string; secret?: string }

const verification = async ({ must }: Stage, body: object = {}): Promise<string> =>
  (await must('POST', '/v1/verifications', 'test', { template: 'age_over_18', ...body })).body.id as string

/** A session whose phone was asked. */
const scannedByTill = async (stage: Stage): Promise<Prepared> => {
  const id = await verification(stage)
  await stage.must('POST', `/v1/verifications/${id}/in-person-request`, 'test', { engagement: PHONE_CODE })
  return { id }
}

/** A session that a page has asked for. */
const askedByPage = async (stage: Stage): Promise<Prepared> => {
  const id = await verification(stage)
  await stage.must('POST', `/wallet/dc/request/${id}`, 'shopper', {})
  return { id }
}

const registered = async ({ must, waiting }: Stage, who: string) => {
  const { device, pairing_code } = (await must('POST', '/v1/devices', who, { name: 'Till', allowed_templates: ['age_over_18'] }))
    .body as { device: { id: string }; pairing_code: string }
  await revokeOldest({ must, waiting }, who, device.id)
  return { id: device.id, secret: pairing_code }
}

/** At most 50 pairing codes may wait: what no case has used is revoked after a while. */
async function revokeOldest({ must, waiting }: Pick<Stage, 'must' | 'waiting'>, who: string, id: string): Promise<void> {
  waiting.push([who, id])
  if (waiting.length <= WAITING_MAX) return
  const [by, oldest] = waiting.shift()!
  await must('DELETE', `/v1/devices/${oldest}`, by)
}
const WAITING_MAX = 30

const paired = async (stage: Stage): Promise<Prepared> => {
  const { secret } = await registered(stage, 'workshop')
  const { body } = await stage.must('POST', '/v1/devices/enroll', 'none', { pairing_code: secret })
  return { secret: body.refresh_token as string }
}

const invited = async ({ must, cast }: Stage): Promise<Prepared> => {
  const name = `guest${++guests}`
  const { user, url } = (await must('POST', '/dashboard/api/users', 'owner', { name, tenant: cast.tenants.workshop })).body as {
    user: { id: string }
    url: string
  }
  return { id: user.id, secret: url.split('=').at(-1) }
}
let guests = 0

const mintedKey = async ({ must, cast }: Stage): Promise<Prepared> => {
  const body = { environment: 'test', scopes: ['verifications:read'], expires_days: null }
  const { api_key } = (await must('POST', `/dashboard/api/tenants/${cast.tenants.own}/keys`, 'owner', body)).body as {
    api_key: { id: string }
  }
  return { id: api_key.id }
}

const clientsAt = ({ cast }: Stage): string => `/dashboard/api/tenants/${cast.tenants.own}/clients`

const addedClient = async (stage: Stage): Promise<Prepared> => {
  const body = { environment: 'test', name: 'Forum', redirect_uris: ['https://forum.example/cb'], templates: ['age_over_18'] }
  return { id: (await stage.must('POST', clientsAt(stage), 'owner', body)).body.id as string }
}

const someClient = async (stage: Stage): Promise<Prepared> => {
  const [client] = (await stage.must('GET', clientsAt(stage), 'owner')).body.data as { id: string }[]
  return client ? { id: client.id } : await addedClient(stage)
}

/** There may be 50. */
const withoutClients = async (stage: Stage): Promise<Prepared> => {
  const { data } = (await stage.must('GET', clientsAt(stage), 'owner')).body as { data: { id: string }[] }
  for (const { id } of data) await stage.ask('DELETE', `${clientsAt(stage)}/${id}`, 'owner', {})
  return {}
}

export const authorityOf = async (must: Stage['ask']): Promise<string> =>
  (await must('GET', '/dashboard/api/signing', 'owner')).body.authority as string

let anchors = 0

/** Each for a type of its own: a certificate is trusted once for a type. */
const trusted = async ({ must }: Stage): Promise<Prepared> => {
  const trusted_for = `urn:example:${++anchors}`
  const pem = await authorityOf(must)
  const { body } = await must('POST', '/dashboard/api/trust', 'owner', { environment: 'test', pem, trusted_for })
  return { id: (body.data as { id: string }[])[0]?.id }
}

/** Makes the thing that a request uses up. */
export const PREPARE: Record<string, (stage: Stage) => Promise<Prepared>> = {
  'DELETE /v1/verifications/{id}': async stage => ({ id: await verification(stage) }),
  'POST /v1/verifications/{id}/redeem': async stage => {
    const id = await verification(stage, { redirect_url: 'https://shop.example/done' })
    return { id, secret: await decline(stage.must, id) }
  },
  'POST /wallet/response/{sessionId}': async stage => {
    const id = await verification(stage, { redirect_url: 'https://shop.example/done' })
    return { id, secret: await stateOf(stage.must, id) }
  },
  'POST /wallet/dc/response/{sessionId}': askedByPage,
  'POST /v1/verifications/{id}/dc-response': askedByPage,
  // Earlier cases cancelled the sessions that are there for all.
  'POST /v1/verifications/{id}/dc-request': async stage => ({ id: await verification(stage) }),
  'POST /v1/verifications/{id}/in-person-request': async stage => ({ id: await verification(stage) }),
  'POST /v1/verifications/{id}/in-person-response': scannedByTill,
  'DELETE /v1/devices/{id}': stage => registered(stage, 'test'),
  'POST /v1/devices/enroll': stage => registered(stage, 'workshop'),
  'POST /v1/devices/token': paired,
  'POST /dashboard/api/link': invited,
  'POST /dashboard/api/choose-password': invited,
  'POST /dashboard/api/users/{id}/reset': invited,
  'PUT /dashboard/api/users/{id}/role': invited,
  'DELETE /dashboard/api/users/{id}': invited,
  'DELETE /dashboard/api/sessions/{id}': async ({ must }) => {
    const { body } = await must('GET', '/dashboard/api/sessions', 'owner')
    return { id: (body.data as { id: string; is_current: boolean }[]).find(each => each.is_current)?.id }
  },
  'DELETE /dashboard/api/trust/{id}': trusted,
  'POST /dashboard/api/tenants/{tenant}/keys/{id}/roll': mintedKey,
  'DELETE /dashboard/api/tenants/{tenant}/keys/{id}': mintedKey,
  'POST /dashboard/api/tenants/{tenant}/clients': withoutClients,
  'PUT /dashboard/api/tenants/{tenant}/clients/{id}': someClient,
  'POST /dashboard/api/tenants/{tenant}/clients/{id}/secret': someClient,
  'DELETE /dashboard/api/tenants/{tenant}/clients/{id}': addedClient,
  'DELETE /dashboard/api/tenants/{tenant}/devices/{id}': stage => registered(stage, 'test'),
  'DELETE /dashboard/api/tenants/{tenant}/verifications/{id}': async stage => ({ id: await verification(stage) }),
  'DELETE /dashboard/api/tenants/{tenant}/origins': async ({ ask, cast }) => {
    // Refused where an earlier case did not remove it.
    for (const environment of ['test', 'live'])
      await ask('POST', `/dashboard/api/tenants/${cast.tenants.own}/origins?environment=${environment}`, 'owner', {
        origin: LISTED,
      })
    return { id: cast.tenants.own }
  },
  'DELETE /dashboard/api/tenants/{tenant}/templates/{key}': async ({ must, cast }) => {
    const id = `passing_${++passing}`
    await must('PUT', `/dashboard/api/tenants/${cast.tenants.own}/templates/${id}`, 'owner', { title: 'Passing', query: QUERY })
    return { id }
  },
  'POST /dashboard/api/tenants/{tenant}/webhook-endpoint/test': async stage => {
    if (!hooked.has(stage.cast)) await hookAll(stage)
    hooked.add(stage.cast)
    return { id: stage.cast.tenants.own }
  },
}

let passing = 0
const hooked = new WeakSet<object>()

/** Other cases left endpoints that nobody answers at. */
async function hookAll({ must, cast }: Stage): Promise<void> {
  for (const tenant of [cast.tenants.own, cast.tenants.foreign])
    for (const environment of ['test', 'live'])
      await must('PUT', `/dashboard/api/tenants/${tenant}/webhook-endpoint?environment=${environment}`, 'owner', {
        webhook_url: cast.hookUrl,
      })
}

export type Left = { device?: { id: string }; user?: { id: string }; data?: { id: string }[] }

/** A session that was ended, by whomever of them, is begun again. */
async function comeBack(stage: Stage): Promise<void> {
  const { ask, must, cast } = stage
  for (const [who, name] of Object.entries(cast.users ?? {})) {
    if ((await ask('GET', '/dashboard/api/session', who)).status === 200) continue
    enter(stage, who, await must('POST', '/dashboard/api/login', 'page', { name, password: PASSWORD }))
  }
}

/** Any text that is hard to guess is a good password: whoever has it now takes the old one again. */
async function takePasswordAgain(stage: Stage, _left: Left, sent: unknown): Promise<void> {
  const { new_password: password } = sent as { new_password: string }
  for (const [who, name] of password === PASSWORD ? [] : Object.entries(stage.cast.users ?? {})) {
    const loggedIn = await stage.ask('POST', '/dashboard/api/login', 'page', { name, password })
    if (loggedIn.status !== 200) continue
    enter(stage, who, loggedIn)
    await stage.must('POST', '/dashboard/api/password', who, { password, new_password: PASSWORD })
  }
  await comeBack(stage)
}

function enter({ cast }: Stage, who: string, { headers, body }: Asked): void {
  cast.credentials[who] = asUser(cast.credentials.page ?? [], headers.get('set-cookie') ?? '', body.csrf_token as string)
}

export const asUser = (page: readonly Header[], setCookie: string, csrf: string): Header[] => [
  ...page,
  ['cookie', setCookie.split(';')[0] ?? ''],
  ['x-csrf-token', csrf],
]

/** Lists without pages must not grow, and few pairing codes may wait. */
export const AFTER: Record<string, (stage: Stage, left: Left, sent: unknown) => Promise<unknown>> = {
  'POST /v1/devices': async ({ ask }, { device }) => {
    for (const who of ['test', 'live', 'foreign', 'workshop'])
      if ((await ask('DELETE', `/v1/devices/${device?.id}`, who)).status === 200) return
  },
  'POST /dashboard/api/tenants/{tenant}/devices': async ({ ask, cast }, { device }) => {
    for (const tenant of [cast.tenants.own, cast.tenants.foreign])
      for (const environment of ['test', 'live'])
        if (
          (await ask('DELETE', `/dashboard/api/tenants/${tenant}/devices/${device?.id}?environment=${environment}`, 'owner', {}))
            .status === 200
        )
          return
  },
  'PUT /dashboard/api/tenants/{tenant}': async ({ ask, cast }) => {
    for (const tenant of [cast.tenants.own, cast.tenants.foreign])
      await ask('PUT', `/dashboard/api/tenants/${tenant}`, 'owner', { quota_override: DAILY_QUOTA_MAX, retention_days: null })
  },
  'POST /dashboard/api/tenants/{tenant}/origins': async ({ ask, cast }, _left, sent) => {
    for (const tenant of [cast.tenants.own, cast.tenants.foreign])
      for (const environment of ['test', 'live'])
        await ask('DELETE', `/dashboard/api/tenants/${tenant}/origins?environment=${environment}`, 'owner', sent as object)
  },
  'POST /dashboard/api/logout': comeBack,
  'POST /dashboard/api/password': takePasswordAgain,
  'DELETE /dashboard/api/sessions': comeBack,
  'DELETE /dashboard/api/sessions/{id}': comeBack,
  'POST /dashboard/api/users': ({ ask }, { user }) => ask('DELETE', `/dashboard/api/users/${user?.id}`, 'owner', {}),
  'POST /dashboard/api/trust': async ({ ask }, { data = [] }) => {
    for (const { id } of data) await ask('DELETE', `/dashboard/api/trust/${id}`, 'owner', {})
  },
}

/** Beside these nothing else is tried. */
export const ENDS_SESSIONS = new Set<unknown>([comeBack, takePasswordAgain])

/** All its cases take the same thing: side by side, one would take it from the others. */
export const ONE_BY_ONE = new Set(['DELETE /dashboard/api/tenants/{tenant}/origins'])
