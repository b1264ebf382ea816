// Changes and readings of presented claims leave audit records, and the chain stays valid.
import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { verifyExport } from '../../src/audit/export.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import type { AuditRecord } from '../../src/dashboard/settings/audit/schema.ts'
import type { VerificationDetail } from '../../src/dashboard/verifications/schema.ts'
import { audit as words } from '../../src/web/dashboard/settings/audit/en.ts'
import { type Answer, createVerification, startApp, startWithTenant, type TestApp } from '../helpers/app.ts'
import { issueAuthority, pemOf } from '../helpers/certificates.ts'
import {
  type Browser,
  joinMember,
  openBrowser,
  outcome,
  PASSWORD,
  setUpOwner,
  startOwned,
  tokenOf,
} from '../helpers/dashboard.ts'
import { isOnPostgres } from '../helpers/database.ts'
import { filesContaining } from '../helpers/files.ts'
import { tamperWith } from '../helpers/tampering.ts'
import { verifyWith } from '../helpers/wallet.ts'

const QUERY = {
  credentials: [
    { id: 'm', format: 'dc+sd-jwt', meta: { vct_values: ['https://club.example/m'] }, claims: [{ path: ['level'] }] },
  ],
}

type Page = { data: AuditRecord[]; next_before: number | null }

/** Action and actor, oldest first. */
async function recordsOf(boss: Browser, since = 0): Promise<string[]> {
  const { data } = (await boss.get<Page>('/audit?limit=100')).body
  return data
    .filter(({ seq }) => seq > since)
    .map(({ action, actor }) => `${action} ${actor}`)
    .reverse()
}

const headOf = async (boss: Browser) => (await boss.get<Page>('/audit?limit=1')).body.data[0]?.seq ?? 0
const isWhole = async (app: TestApp) => expect(await verifyAudit(app.deps)).toMatchObject({ problem: undefined })

/** Remembers something of an answer for the next change. */
async function noting<Body>(asked: Promise<Answer<Body>>, note: (body: Body) => void): Promise<Answer<Body>> {
  const answer = await asked
  note(answer.body)
  return answer
}

describe('changes', () => {
  test('every change that the dashboard can make leaves a record with the name of who made it', async () => {
    const { app, boss } = await startOwned()
    const { id: shop } = (await boss.post<{ id: string }>('/tenants', { name: 'Wine shop' })).body
    const at = `/tenants/${shop}`
    const key = { environment: 'test', scopes: ['verifications:read'], expires_days: 30, label: 'web shop' }
    let keyId = ''
    let deviceId = ''
    let anchorId = ''
    let sessionId = ''
    let mia: Browser | undefined
    let miaId = ''
    let link = ''

    const CHANGES: [string, string, () => Promise<{ status: number; body: unknown }>][] = [
      ['tenant.changed', 'olivia', () => boss.put(at, { name: 'Corner shop', retention_days: 30 })],
      [
        'key.created',
        'olivia',
        () =>
          noting(boss.post<{ api_key: { id: string } }>(`${at}/keys`, key), body => {
            keyId = body.api_key.id
          }),
      ],
      ['key.rolled', 'olivia', () => boss.post(`${at}/keys/${keyId}/roll`, { old_expires: '24h' })],
      ['key.revoked', 'olivia', () => boss.delete(`${at}/keys/${keyId}`)],
      [
        'device.registered',
        'olivia',
        async () => {
          const till = { name: 'Till', allowed_templates: ['age_over_18'] }
          const answer = await boss.post<{ device: { id: string } }>(`${at}/devices?environment=live`, till)
          deviceId = answer.body.device.id
          return answer
        },
      ],
      ['device.changed', 'olivia', () => boss.put(`${at}/devices/${deviceId}?environment=live`, { name: 'Till 2' })],
      ['device.code_renewed', 'olivia', () => boss.post(`${at}/devices/${deviceId}/pairing?environment=live`, {})],
      ['device.revoked', 'olivia', () => boss.delete(`${at}/devices/${deviceId}?environment=live`)],
      ['template.saved', 'olivia', () => boss.put(`${at}/templates/membership`, { title: 'Member', query: QUERY })],
      ['template.deleted', 'olivia', () => boss.delete(`${at}/templates/membership`)],
      ['secret.revealed', 'olivia', () => boss.post(`${at}/webhook-secret/reveal?environment=live`)],
      ['secret.rotated', 'olivia', () => boss.post(`${at}/webhook-secret/rotate?environment=live`)],
      ['secret.dropped', 'olivia', () => boss.post(`${at}/webhook-secret/drop-previous?environment=live`)],
      [
        'endpoint.set',
        'olivia',
        () => boss.put(`${at}/webhook-endpoint?environment=live`, { webhook_url: 'https://hooks.shop.example/' }),
      ],
      ['endpoint.removed', 'olivia', () => boss.put(`${at}/webhook-endpoint?environment=live`, { webhook_url: null })],
      [
        'trust.added',
        'olivia',
        async () => {
          const body = { environment: 'live', pem: pemOf((await issueAuthority()).der) }
          const answer = await boss.post<{ data: { id: string }[] }>('/trust', body)
          anchorId = answer.body.data[0]?.id ?? ''
          return answer
        },
      ],
      ['trust.removed', 'olivia', () => boss.delete(`/trust/${anchorId}`)],
      [
        'user.invited',
        'olivia',
        () =>
          noting(boss.post<{ url: string; user: { id: string } }>('/users', { name: 'mia', tenant: shop }), body => {
            link = body.url
            miaId = body.user.id
          }),
      ],
      [
        'user.reset',
        'olivia',
        () =>
          noting(boss.post<{ url: string }>(`/users/${miaId}/reset`), body => {
            link = body.url
          }),
      ],
      [
        'user.joined',
        'mia',
        async () => {
          mia = openBrowser(app)
          return await mia.post('/choose-password', { token: tokenOf(link), password: PASSWORD })
        },
      ],
      ['verification.created', 'mia', () => mia!.post(`${at}/verifications`, { template: 'age_over_18' })],
      [
        'user.password_changed',
        'mia',
        () => mia!.post('/password', { password: PASSWORD, new_password: 'gravel 7 umbrella north' }),
      ],
      [
        'user.logged_in',
        'olivia',
        async () => {
          const answer = await openBrowser(app).logIn('olivia')
          const sessions = await boss.get<{ data: { id: string; is_current: boolean }[] }>('/sessions')
          sessionId = sessions.body.data.find(({ is_current }) => !is_current)?.id ?? ''
          return answer
        },
      ],
      ['user.logged_out', 'olivia', () => boss.delete(`/sessions/${sessionId}`)],
      ['user.logged_out', 'mia', () => mia!.delete('/sessions')],
      ['user.removed', 'olivia', () => boss.delete(`/users/${miaId}`)],
      ['audit.exported', 'olivia', () => boss.post('/audit/export')],
    ]
    for (const [action, actor, change] of CHANGES) {
      const before = await headOf(boss)
      const { status, body } = await change()
      expect([action, status, status < 300 ? '' : body]).toEqual([action, status < 300 ? status : 0, ''])
      const records = await recordsOf(boss, before)
      expect([action, records]).toEqual([action, expect.arrayContaining([`${action} dashboard:${actor}`])])
    }
    expect(await recordsOf(boss)).toContain('tenant.created dashboard:olivia')
    expect(await recordsOf(boss)).toContain('user.created dashboard:olivia')
    const { data } = (await boss.get<Page>('/audit?limit=100')).body
    const names = data.flatMap(({ details }) => Object.keys(details ?? {}))
    expect([...new Set(names)].filter(name => !(name in words.fields))).toEqual([])
    await isWhole(app)
  })

  test('a refused change leaves no record', async () => {
    const { app, boss, ...shop } = await startOwned()
    const mia = await joinMember(app, shop.id, 'mia')
    const before = await headOf(boss)
    await mia.post('/tenants', { name: 'x' })
    await mia.put(`/tenants/${shop.id}`, { plan: 'large' })
    await boss.delete(`/tenants/${shop.id}/keys/key_none`)
    await boss.delete('/trust/anc_none')
    await boss.put(`/tenants/${shop.id}/templates/age_over_18`, { title: 'x', query: QUERY })
    expect(await headOf(boss)).toBe(before)
  })
})

describe('the answer of a holder', () => {
  const detailOf = (browser: Browser, tenant: string, id: string) =>
    browser.get<VerificationDetail>(`/tenants/${tenant}/verifications/${id}?environment=test`)

  test('presented claims are shown after a record of who reads them, one per reader in ten minutes', async () => {
    const { app, ...shop } = await startWithTenant()
    const [boss, mia] = [await setUpOwner(app), await joinMember(app, shop.id, 'mia')]
    const { verification } = await verifyWith(app, shop.key, 'adult', { body: { template: 'identity_basic' } })
    const before = await headOf(boss)
    const { body } = await detailOf(mia, shop.id, verification.id)
    expect(body.verification).toEqual(verification)
    expect(body.verification.claims).toMatchObject({ family_name: expect.any(String) })
    const reads = async () => (await recordsOf(boss, before)).filter(record => record.startsWith('verification.read'))
    expect(await reads()).toEqual(['verification.read dashboard:mia'])

    app.clock.advance(10 * 60_000 - 1)
    await detailOf(mia, shop.id, verification.id)
    expect(await reads()).toHaveLength(1)
    await detailOf(boss, shop.id, verification.id)
    expect(await reads()).toEqual(['verification.read dashboard:mia', 'verification.read dashboard:olivia'])
    app.clock.advance(1)
    const again = await detailOf(mia, shop.id, verification.id)
    expect(await reads()).toHaveLength(3)
    expect(again.body.timeline.filter(({ event }) => event === 'claims_read')).toHaveLength(3)
    await isWhole(app)
  })

  test('presented claims are in no list, and a session without any is shown without a record', async () => {
    const { app, boss, ...shop } = await startOwned()
    const { verification } = await verifyWith(app, shop.key, 'adult', { body: { template: 'identity_basic' } })
    const pending = await createVerification(app, shop.key)
    const before = await headOf(boss)
    const list = await boss.get(`/tenants/${shop.id}/verifications?environment=test`)
    const overview = await boss.get(`/tenants/${shop.id}/overview?environment=test`)
    const familyName = String(verification.claims?.family_name)
    for (const { text } of [list, overview]) {
      expect(text).toContain(verification.id)
      expect(text).not.toContain(familyName)
      expect(text).not.toContain('credentials')
      expect(text).not.toContain('wallet_uri')
    }
    expect((await detailOf(boss, shop.id, pending.id)).status).toBe(200)
    expect(await headOf(boss)).toBe(before)
  })

  test('erasing presented claims also erases who read them, and the chain still verifies', async () => {
    const { app, boss, ...shop } = await startOwned()
    const { verification } = await verifyWith(app, shop.key, 'adult', { body: { template: 'identity_basic' } })
    await detailOf(boss, shop.id, verification.id)
    const erased = await boss.delete(`/tenants/${shop.id}/verifications/${verification.id}?environment=test`)
    expect(erased.body as unknown).toMatchObject({ deleted: { verification_sessions: 1, verification_results: 1 } })
    expect(outcome(await detailOf(boss, shop.id, verification.id))).toBe('404 session_not_found')
    const { data } = (await boss.get<Page>('/audit?limit=100')).body
    const about = data.filter(({ action }) => action.startsWith('verification.'))
    expect(about.map(({ action, details }) => [action, details])).toEqual([
      ['verification.erased', null],
      ['verification.read', null],
      ['verification.completed', null],
      ['verification.created', null],
    ])
    await isWhole(app)
    expect(filesContaining(app.dir, verification.id)).toEqual([])
    const exported = await boss.post('/audit/export')
    expect(await verifyExport(linesOf(exported.text))).toMatchObject({ problem: undefined })
  })
})

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.trimEnd().split('\n')
}

describe('the chain', () => {
  test('the chain is listed newest first, in pages, whole or for one tenant', async () => {
    const app = await startApp()
    const [shop, bakery] = [await app.tenant(), await app.tenant({ name: 'Bakery' })]
    const boss = await setUpOwner(app)
    for (let i = 0; i < 5; i++) {
      await createVerification(app, shop.key)
      await createVerification(app, bakery.key)
    }
    const all: AuditRecord[] = []
    let before: number | null | undefined
    for (let pages = 0; before !== null && pages < 20; pages++) {
      const page = (await boss.get<Page>(`/audit?limit=4${before === undefined ? '' : `&before=${before}`}`)).body
      expect(page.data.length).toBeLessThanOrEqual(4)
      all.push(...page.data)
      before = page.next_before
    }
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: all.length }, (_, i) => all.length - i))
    const own = (await boss.get<Page>(`/tenants/${shop.id}/audit?limit=100`)).body
    expect(own.next_before).toBeNull()
    expect(own.data.map(({ above, ...record }) => record)).toEqual(all.filter(({ tenant }) => tenant === shop.id))
    expect(own.data[0]).toMatchObject({ action: 'verification.created', details: { template: 'age_over_18' } })
    for (const query of ['limit=0', 'limit=101', 'before=x', 'before=1e3', 'other=1'])
      expect(outcome(await boss.get(`/audit?${query}`))).toBe('400 invalid_request')
  })

  test('a tenant’s page reads a bounded number of records, and returns where to continue', async () => {
    const app = await startApp()
    const [quiet, busy] = [await app.tenant(), await app.tenant({ name: 'Busy' })]
    const boss = await setUpOwner(app)
    await app.deps.write(async tx => {
      const entry = { at: app.clock.now(), tenantId: busy.id, actor: 'test', action: 'key.created', subjectId: 'x' } as const
      for (let i = 0; i < 5100; i++) await app.deps.audit.append(tx, entry)
    })
    const first = (await boss.get<Page>(`/tenants/${quiet.id}/audit`)).body
    expect(first.data).toEqual([])
    expect(first.next_before).toBeGreaterThan(1)
    const second = (await boss.get<Page>(`/tenants/${quiet.id}/audit?before=${first.next_before}`)).body
    expect(second.data).toHaveLength(3)
    expect(second.next_before).toBeNull()
  })

  test('the dashboard verifies the chain, and names the record where it is broken', async () => {
    const app = await startApp()
    await app.tenant()
    const boss = await setUpOwner(app)
    expect((await boss.get('/audit/verification')).body as unknown).toEqual({ state: 'never' })
    const count = await headOf(boss)
    expect((await boss.post('/audit/verification')).body as unknown).toMatchObject({
      state: 'done',
      verdict: { ok: true, count },
    })
    tamperWith(app.dir, db => db.run("UPDATE audit_records SET actor = 'somebody else' WHERE seq = 2"))
    expect((await boss.post('/audit/verification')).body as unknown).toMatchObject({
      state: 'done',
      verdict: { ok: false, broken_at: 2, problem: 'its hash does not match its fields' },
    })
    expect((await boss.get('/audit/verification')).body as unknown).toMatchObject({ state: 'done', verdict: { ok: false } })
  })

  test('an export taken during writes and erasures verifies offline', async () => {
    const { app, boss, ...shop } = await startOwned()
    let isWriting = true
    const writing = (async () => {
      while (isWriting) {
        const made = await Promise.all(Array.from({ length: 5 }, () => createVerification(app, shop.key)))
        await Promise.all(made.slice(0, 3).map(({ id }) => app.call('DELETE', `/v1/verifications/${id}`, { key: shop.key })))
      }
    })()
    const counts: number[] = []
    for (let i = 0; i < 8; i++) {
      const exported = await boss.post('/audit/export')
      expect(exported.status).toBe(200)
      expect(exported.headers.get('content-type')).toBe('application/jsonl')
      const verdict = await verifyExport(linesOf(exported.text))
      expect(verdict).toMatchObject({ problem: undefined })
      counts.push(verdict.count)
    }
    isWriting = false
    await writing
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))
    await isWhole(app)
    // No reader holds the log any more.
    expect(await app.deps.forgetDeleted()).toBe(true)
  })

  test('an export that is not read to its end blocks no erasure', async () => {
    const { app, boss } = await startOwned()
    await app.deps.write(async tx => {
      const entry = { at: app.clock.now(), tenantId: '', actor: 'test', action: 'key.created', subjectId: 'x' } as const
      for (let i = 0; i < 20_000; i++) await app.deps.audit.append(tx, entry)
    })
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    const headers = [
      'Host: verify.example',
      `Cookie: ${boss.state.cookie}`,
      `X-CSRF-Token: ${boss.state.csrf}`,
      'Origin: https://verify.example',
      'Content-Type: application/json',
      'Content-Length: 2',
    ]
    socket.write(`POST /dashboard/api/audit/export HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{}`)
    const [head] = (await once(socket, 'data')) as [Buffer]
    socket.pause()
    expect(head.toString()).toStartWith('HTTP/1.1 200')
    await app.deps.write(tx => app.deps.audit.checkpoint(tx, app.clock.now()))
    // The erasure waits while the export could still be read from the file; on PostgreSQL there is none to wait for.
    expect(await app.deps.forgetDeleted()).toBe(isOnPostgres)
    socket.destroy()
    // Fewer retries than the longest export allows.
    let isFree = false
    for (let i = 0; i < 100 && !isFree; i++) isFree = await app.deps.forgetDeleted()
    expect(isFree).toBe(true)
  })
  test('an export whose reading fails is cut off, and blocks no erasure', async () => {
    const { app, boss } = await startOwned()
    const { openSnapshot } = app.deps
    let reads = 0
    app.deps.openSnapshot = async () => {
      const snapshot = await openSnapshot()
      const select = snapshot.db.select.bind(snapshot.db)
      // The first read takes the snapshot; the second fails.
      const failing = (...fields: []) => {
        if (++reads === 2) throw new Error('disk I/O error')
        return select(...fields)
      }
      Object.assign(snapshot.db, { select: failing })
      return snapshot
    }
    const { text } = await boss.post('/audit/export')
    expect([reads, (await verifyExport(linesOf(text))).problem]).toEqual([2, expect.anything()])
    await app.deps.write(tx => app.deps.audit.checkpoint(tx, app.clock.now()))
    expect(await app.deps.forgetDeleted()).toBe(true)
  })
})
