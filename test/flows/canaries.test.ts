// Thirty texts that occur nowhere else go through a full day of the service. None of them is in
// clear in a file or in the log: not in the database, its write-ahead log, a backup, or after a
// kill. After the erasure their sealed forms are gone as well.
import { Database } from 'bun:sqlite'
import { afterAll, expect } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { addRegistration } from '../../src/signing/registrations.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { newRegistrar } from '../helpers/access.ts'
import { cleanUp, createVerification, startApp, temporaryDir, until } from '../helpers/app.ts'
import { vidimusJson } from '../helpers/cli.ts'
import { answerOf, ask, listOrigin, tell } from '../helpers/dc.ts'
import { enroll, refresh, register } from '../helpers/devices.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { formOf, only, openSession, postTo } from '../helpers/exchange.ts'
import { filesContaining } from '../helpers/files.ts'
import { answerOf as answerOfPhone, base64url, pass, readPhone } from '../helpers/in-person.ts'
import { sdJwtQuery } from '../helpers/queries.ts'
import { logOf, receive, startAppFor, stopReceiving } from '../helpers/receiver.ts'
import { holderOf } from '../helpers/wallet.ts'

afterAll(async () => {
  stopReceiving()
  await cleanUp()
})

const SESSIONS = ['dc+sd-jwt', 'mso_mdoc'] as const

sqliteOnly('looks into the file, its log and its backups')(
  'thirty canaries are in clear nowhere, and after the erasure not even sealed',
  async () => {
    const receiver = receive(() => new Response('canary-of-the-answer-1', { status: 500 }))
    const app = await startAppFor([receiver])
    const { tenant, webhookSecret } = await createTenant(app.deps, { name: 'Shop' }, 'test')
    const key = await app.key(tenant.id)
    await listOrigin(app, tenant.id, 'https://canary-page.example')
    const canaries: Record<string, string> = { key, webhookSecret, answer: 'canary-of-the-answer-1' }
    // A certificate for every wallet, so it is kept in clear; but the log has no use for it.
    const paper = { text: await (await newRegistrar(app))({ credentials: [] }), owner: null, templates: [] }
    const { jwt } = (await addRegistration(app.deps, paper, 'test')).row
    const ids: string[] = []

    for (const format of SESSIONS) {
      const text = (name: string) => {
        canaries[`${format} ${name}`] = `canary-${name}-${format.length}`
        return `canary-${name}-${format.length}`
      }
      const body = {
        template: 'identity_basic',
        purpose: text('purpose'),
        metadata: { [text('member')]: text('value') },
        redirect_url: `https://shop.example/${text('redirect')}`,
        webhook_url: receiver.url(`/${text('hook')}`, `${text('host')}.example`),
      }
      const headers = {
        'idempotency-key': text('idempotency'),
        'user-agent': text('agent'),
        'x-forwarded-for': text('forwarded'),
      }
      const made = await app.call<Verification>('POST', '/v1/verifications', { key, body, headers })
      const session = await openSession({ app, key }, body)
      const form = await formOf(session, await holderOf(app), { accept: only(format) })
      const { body: answered } = await postTo(session, form)
      const { id } = session.created
      const { claims } = (await app.call<Verification>('GET', `/v1/verifications/${id}?${text('query')}`, { key })).body
      Object.assign(canaries, {
        [`${format} presentation`]: String(form.get('response')).slice(-40),
        [`${format} claims`]: JSON.stringify(claims).slice(1, -1),
        [`${format} code`]: new URL(answered.redirect_uri ?? '').hash.slice('#response_code='.length),
      })
      // What a wallet says of itself tells it apart from others.
      const wallet = { logo: text('logo'), jwks: { keys: [{ kid: text('kid') }] }, response_modes_supported: [text('mode')] }
      const asking = new URLSearchParams({ wallet_metadata: JSON.stringify(wallet), wallet_nonce: text('nonce') })
      const fetched = await app.call('POST', `/wallet/request/${made.body.id}`, { raw: asking })
      expect(decodeJwt(fetched.text).verifier_info).toMatchObject([{ data: jwt }])
      // The first session stays pending, with what a page has asked for; the last is answered by a page.
      const { requests } = (await ask(app, made.body.id, { origin: 'https://canary-page.example' })).body
      const byPage = await createVerification(app, key, { template: 'identity_basic' })
      const shown = await answerOf(app, byPage.id, await holderOf(app), { origin: 'https://canary-page.example', format })
      const told = await tell(app, byPage.id, shown, { origin: 'https://canary-page.example' })
      Object.assign(canaries, {
        [`${format} nonce of the page`]: requests[0]!.data.nonce,
        [`${format} key for the page`]: requests[1]!.data.encryptionInfo,
        [`${format} presentation to the page`]: String(shown.data.response).slice(-40),
        [`${format} code of the page`]: told.body.response_code,
      })
      // Another session's phone was asked in person, and did not answer yet; the last one's did.
      const scanned = await createVerification(app, key, { template: 'identity_basic' })
      const inPerson = await readPhone({ app, key }, await holderOf(app), { template: 'identity_basic' })
      const waiting = await answerOfPhone({ app, key }, scanned.id, await holderOf(app))
      await pass({ app, key }, inPerson.id, inPerson.answer)
      for (const [name, { phone, request, answer }] of Object.entries({ read: inPerson, waiting }))
        Object.assign(canaries, {
          [`${format} code of the ${name} phone`]: phone.code.slice(-40),
          [`${format} service of the ${name} phone`]: phone.service,
          [`${format} message to the ${name} phone`]: request.message.slice(-40),
          [`${format} message of the ${name} phone`]: base64url(answer).slice(-40),
        })
      const own = sdJwtQuery('own', [], { claims: [{ path: ['given_name'], values: [text('asked')] }] })
      const withQuery = await app.call<Verification>('POST', '/v1/verifications', {
        key,
        body: { query: { credentials: [own] } },
      })
      ids.push(made.body.id, id, byPage.id, scanned.id, inPerson.id, withQuery.body.id)
      app.clock.advance(100)
      await until(async () => logOf(app, id).delivery?.attempts === 1)
    }
    await app.call('POST', '/v1/verifications', {
      key,
      raw: '{"canary-of-a-broken-body',
      headers: { 'content-type': 'application/json' },
    })
    canaries.broken = 'canary-of-a-broken-body'
    const { pairing_code } = await register(app, key)
    const { body: first } = await enroll(app, pairing_code, 'one')
    const { body: second } = await refresh(app, first.refresh_token, 'two')
    Object.assign(canaries, { pairing_code, access: first.access_token, refresh: first.refresh_token })
    Object.assign(canaries, { access2: second.access_token, refresh2: second.refresh_token })
    expect(Object.keys(canaries).length).toBeGreaterThanOrEqual(30)

    await vidimusJson(app.dir, 'backup', join(app.dir, 'canaries.db'))
    const killed = temporaryDir()
    cpSync(app.dir, killed, { recursive: true })
    for (const dir of [app.dir, killed])
      for (const [name, canary] of Object.entries(canaries)) expect([name, filesContaining(dir, canary)]).toEqual([name, []])
    for (const [name, canary] of Object.entries(canaries))
      expect([name, app.logs.filter(line => line.includes(canary))]).toEqual([name, []])
    expect(app.logs.filter(line => line.includes(jwt.slice(-40)))).toEqual([])
    for (const id of ids) expect(app.logs.filter(line => line.includes(id))).toEqual([])
    expect(app.logs.filter(line => line.includes('canary-page'))).toEqual([])
    // The log did tell of all this.
    expect(app.logs.length).toBeGreaterThan(15)

    const sealed = sealedIn(app.dir)
    expect(sealed.length).toBeGreaterThan(10)
    for (const id of ids) expect((await app.call('DELETE', `/v1/verifications/${id}`, { key })).status).toBe(200)
    await app.deps.forgetDeleted()
    for (const bytes of sealed) expect(filesContaining(app.dir, bytes).filter(name => name !== 'canaries.db')).toEqual([])
    // The backup from before still has them, and a restore takes them out.
    await app.stop()
    await vidimusJson(app.dir, 'restore', join(app.dir, 'canaries.db'))
    const restored = await startApp({ dir: app.dir, now: Date.now() })
    for (const id of ids) expect((await restored.call('GET', `/v1/verifications/${id}`, { key })).status).toBe(404)
    await restored.deps.forgetDeleted()
    for (const bytes of sealed) expect(filesContaining(app.dir, bytes).filter(name => name !== 'canaries.db')).toEqual([])
  },
)

/** The sealed columns of sessions, results, moments, replays and attempts. */
function sealedIn(dir: string): Uint8Array[] {
  const sqlite = new Database(join(dir, 'vidimus.db'), { readonly: true })
  const tables = ['verification_sessions', 'verification_results', 'verification_events', 'idempotency_keys', 'webhook_attempts']
  const columns = [
    ...tables.map(table => ['sealed', table]),
    ...['sealed_query', 'sealed_dc_requests', 'sealed_in_person', 'sealed_fetches'].map(column => [
      column,
      'verification_sessions',
    ]),
  ]
  const rows = columns.flatMap(([column, table]) =>
    sqlite.query<{ sealed: Uint8Array }, []>(`SELECT ${column} AS sealed FROM ${table} WHERE length(${column}) > 16`).all(),
  )
  sqlite.close()
  return rows.map(({ sealed }) => sealed.slice(0, 24))
}
