// Keys that wait for their certificate, certificates that start later, and keys that are erased.
import { afterAll, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { verificationSessions } from '../../src/db/schema/verifications.ts'
import { signingState, warnOfExpiry } from '../../src/signing/certificate.ts'
import { importSigningKey } from '../../src/signing/import.ts'
import { certificatesOf, openPrivateKey } from '../../src/signing/keys.ts'
import { certificateRequest, requestNewKey } from '../../src/signing/request.ts'
import { retireSigningKeys } from '../../src/signing/retire.ts'
import { sealSigningKeysAgain } from '../../src/signing/seal-again.ts'
import { findSigningKey, listPending } from '../../src/signing/store.ts'
import { chainOf, clientIdOf, getCertificate, newAuthority, signRequest } from '../helpers/access.ts'
import { cleanUp, createVerification, startWithTenant, type TestApp } from '../helpers/app.ts'
import {
  CertificateRequest,
  contacts,
  DAY_MS,
  isAuthority,
  issue,
  issueAuthority,
  pemOf,
  signsCertificates,
} from '../helpers/certificates.ts'
import { AUDIT_ENTRIES, editSettings, rowsOf } from '../helpers/database.ts'
import { sentencesOf } from '../helpers/doctor.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

afterAll(cleanUp)

const HOUR_MS = 3_600_000
const OWN = { owner: null, authorities: [] }
const REQUEST = { owner: null, host: 'verify.example' }

const subjectOf = async (app: TestApp, key: string) => (await chainOf(app, await createVerification(app, key)))[0]?.subject

describe('a request', () => {
  test('a certificate for the first of two requests finds its key, and the other key still waits', async () => {
    const { app, key } = await startWithTenant()
    const issuer = await newAuthority(app)
    const first = await requestNewKey(app.deps, REQUEST, 'test')
    app.clock.advance(1000)
    const second = await requestNewKey(app.deps, REQUEST, 'test')
    const chainPem = await signRequest(app, first, { issuer })
    const { state } = await importSigningKey(app.deps, { ...OWN, chainPem }, 'test')
    expect(clientIdOf(await createVerification(app, key))).toBe(state.clientId)
    expect((await chainOf(app, await createVerification(app, key)))[0]?.raw).toEqual(new X509Certificate(chainPem).raw)
    expect(state.pendingSince).toBe(app.clock.now())
    const later = await importSigningKey(app.deps, { ...OWN, chainPem: await signRequest(app, second, { issuer }) }, 'test')
    expect(later.state.pendingSince).toBeNull()
    expect(clientIdOf(await createVerification(app, key))).toBe(later.state.clientId)
  })

  test('a request is for the newest waiting key, else for the current one, and has the subject that is given', async () => {
    const { app } = await startWithTenant()
    const keyIn = async (csr: string) => Buffer.from(new CertificateRequest(csr).publicKey.rawData).toString('hex')
    const current = await keyIn(await certificateRequest(app.deps, REQUEST))
    const subject = 'CN=Corner Shop, organizationIdentifier=VATDE-1, C=DE'
    await requestNewKey(app.deps, REQUEST, 'test')
    app.clock.advance(1)
    const made = await requestNewKey(app.deps, { ...REQUEST, subject }, 'test')
    expect(new CertificateRequest(made).subject).toBe('CN=Corner Shop, 2.5.4.97=VATDE-1, C=DE')
    expect(await keyIn(await certificateRequest(app.deps, REQUEST))).toBe(await keyIn(made))
    expect(await keyIn(made)).not.toBe(current)
    await expect(requestNewKey(app.deps, { ...REQUEST, subject: 'nonsense' }, 'test')).rejects.toThrow(
      'the subject cannot be read',
    )
  })

  test('a request refuses a subject with control characters or a change of direction, and makes no key', async () => {
    const { app } = await startWithTenant()
    for (const subject of [
      'CN=Shop \u202egnihtemos',
      'CN=Shop\u0000, C=DE',
      'CN=Corner\nShop',
      'CN=\u2066Shop\u2069',
      'CN=Corner\\0AShop',
      'CN=',
    ]) {
      const making = requestNewKey(app.deps, { ...REQUEST, subject }, 'test')
      await expect(making, JSON.stringify(subject)).rejects.toThrow(/^the subject: /)
    }
    expect((await signingState(app.deps, null)).pendingSince).toBeNull()
  })

  test('the ten newest keys wait', async () => {
    const { app } = await startWithTenant()
    for (let i = 0; i < 12; i++) {
      app.clock.advance(1)
      await requestNewKey(app.deps, REQUEST, 'test')
    }
    const waiting = await listPending(app.deps.db, null)
    expect(waiting.map(({ createdAt }) => app.clock.now() - createdAt)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('a certificate for a key that is not here is refused, and nothing changes', async () => {
    const { app, key } = await startWithTenant()
    const before = clientIdOf(await createVerification(app, key))
    const issuer = await newAuthority(app)
    const foreign = pemOf((await issue({ issuer, notBefore: app.clock.now() - DAY_MS })).der)
    await expect(importSigningKey(app.deps, { ...OWN, chainPem: foreign }, 'test')).rejects.toThrow('for none of the keys here')
    expect(clientIdOf(await createVerification(app, key))).toBe(before)
  })

  test('a certificate that has expired is refused, and nothing changes', async () => {
    const { app } = await startWithTenant()
    const before = await signingState(app.deps)
    const past = { notBefore: app.clock.now() - 9 * DAY_MS, notAfter: app.clock.now() }
    await expect(getCertificate(app, past)).rejects.toThrow('the certificate has expired; get a current one from the authority')
    expect(await signingState(app.deps)).toEqual({ ...before, pendingSince: app.clock.now() })
  })
})

describe('a start', () => {
  test('a certificate that is not valid yet takes over at its first moment, and open sessions keep theirs', async () => {
    const { app, key } = await startWithTenant()
    const start = app.clock.now() + HOUR_MS
    const { state } = await getCertificate(app, { notBefore: start })
    const [before, next] = [state.clientId, state.next!.clientId]
    expect(state.next).toMatchObject({ startsAt: start, subject: expect.stringContaining('Corner Shop') })
    app.clock.set(start - 1)
    const open = await createVerification(app, key, { ttl_seconds: 3600 })
    expect(clientIdOf(open)).toBe(before)
    app.clock.set(start)
    const fresh = await createVerification(app, key)
    expect(clientIdOf(fresh)).toBe(next)
    // Both answer with the certificate that they began with.
    expect((await chainOf(app, open))[0]?.subject).toBe('CN=Vidimus verify.example')
    expect((await chainOf(app, fresh))[0]?.subject).toContain('CN=Corner Shop')
    for (const { wallet_uri } of [open, fresh])
      expect((await answerWith(app, await holderOf(app), wallet_uri ?? '')).status).toBe(200)
    expect(await signingState(app.deps)).toMatchObject({ clientId: next, next: null })
  })

  test('a certificate starts when the operator says, at the latest when the one before ends', async () => {
    const { app } = await startWithTenant()
    const now = app.clock.now()
    const ends = now + 7 * DAY_MS
    await getCertificate(app, { notAfter: ends })
    const life = { notBefore: now, notAfter: now + 60 * DAY_MS }
    const chosen = await getCertificate(app, { ...life, from: now + DAY_MS })
    expect(chosen.state.next?.startsAt).toBe(now + DAY_MS)
    app.clock.set(now + 2 * DAY_MS)
    const late = await getCertificate(app, { ...life, from: now + 90 * DAY_MS }).catch(error => error.message)
    expect(late).toStartWith('the certificate ends before that')
    const third = await getCertificate(app, { ...life, notAfter: now + 100 * DAY_MS, from: now + 90 * DAY_MS })
    // The one of a day ago is current now, and ends after 60 days.
    expect(third.state.next?.startsAt).toBe(now + 60 * DAY_MS)
  })

  test('a chain counts while all of its certificates are valid: it ends with the first, and starts with the last', async () => {
    const { app } = await startWithTenant()
    const now = app.clock.now()
    const root = await newAuthority(app)
    const importWith = async (life: { notBefore?: number; notAfter?: number }) => {
      const issuer = await issueAuthority({
        name: 'C=NL, CN=Middle',
        issuer: root,
        notBefore: now - DAY_MS,
        notAfter: now + 400 * DAY_MS,
        ...life,
      })
      const csr = await requestNewKey(app.deps, REQUEST, 'test')
      const chainPem = `${await signRequest(app, csr, { issuer })}\n${pemOf(issuer.der)}`
      return await importSigningKey(app.deps, { ...OWN, chainPem }, 'test')
    }
    await expect(importWith({ notAfter: now - 1000 })).rejects.toThrow(
      'C=NL, CN=Middle in the chain has expired; get a current chain from the authority',
    )
    expect((await importWith({ notAfter: now + 20 * DAY_MS })).state).toMatchObject({ notAfter: now + 20 * DAY_MS, daysLeft: 20 })
    expect((await importWith({ notBefore: now + 10 * DAY_MS })).state.next).toMatchObject({ startsAt: now + 10 * DAY_MS })
  })

  test('a chain whose certificates are never valid together is refused, and nothing is scheduled', async () => {
    const { app } = await startWithTenant()
    const now = app.clock.now()
    const life = { notBefore: now + 20 * DAY_MS, notAfter: now + 400 * DAY_MS }
    const issuer = await issueAuthority({ name: 'C=NL, CN=Middle', issuer: await newAuthority(app), ...life })
    const csr = await requestNewKey(app.deps, REQUEST, 'test')
    const leaf = await signRequest(app, csr, { issuer, notAfter: now + 20 * DAY_MS })
    const importing = importSigningKey(app.deps, { ...OWN, chainPem: `${leaf}\n${pemOf(issuer.der)}` }, 'test')
    await expect(importing).rejects.toThrow(
      'the certificates of the chain are never valid at the same time; get a current chain from the authority',
    )
    expect((await signingState(app.deps)).next).toBeNull()
  })

  test('a later start is not after the first end in the chain in use, though an older import stored that of its leaf', async () => {
    const { app } = await startWithTenant()
    const now = app.clock.now()
    const root = await newAuthority(app)
    const life = { notBefore: now - DAY_MS, notAfter: now + 20 * DAY_MS }
    const issuer = await issueAuthority({ name: 'C=NL, CN=Middle', issuer: root, ...life })
    const leaf = await signRequest(app, await requestNewKey(app.deps, REQUEST, 'test'), { issuer })
    await importSigningKey(app.deps, { ...OWN, chainPem: `${leaf}\n${pemOf(issuer.der)}` }, 'test')
    const stored = new X509Certificate(leaf).validToDate.getTime()
    editSettings(app, "UPDATE signing_keys SET not_after = ? WHERE role = 'leaf' AND retired_at IS NULL", stored)
    const { state } = await getCertificate(app, { from: now + 40 * DAY_MS })
    expect(state).toMatchObject({ notAfter: now + 20 * DAY_MS, next: { startsAt: now + 20 * DAY_MS } })
  })

  test('a certificate in use that is brought in again with a later start stays in use until then', async () => {
    const { app, key } = await startWithTenant()
    const { chainPem, state } = await getCertificate(app)
    const from = app.clock.now() + DAY_MS
    for (const start of [from + DAY_MS, from]) {
      const again = await importSigningKey(app.deps, { ...OWN, chainPem, from: start }, 'test')
      expect(again.state).toMatchObject({ clientId: state.clientId, next: { clientId: state.clientId, startsAt: start } })
    }
    expect(clientIdOf(await createVerification(app, key))).toBe(state.clientId)
    app.clock.set(from)
    expect(clientIdOf(await createVerification(app, key))).toBe(state.clientId)
    expect((await signingState(app.deps)).next).toBeNull()
  })

  test('a certificate that is brought in again without a start counts at once', async () => {
    const { app, key } = await startWithTenant()
    const { chainPem, state } = await getCertificate(app, { from: app.clock.now() + DAY_MS })
    expect(clientIdOf(await createVerification(app, key))).toBe(state.clientId)
    const again = await importSigningKey(app.deps, { ...OWN, chainPem }, 'test')
    expect(again.state).toMatchObject({ clientId: state.next!.clientId, next: null })
    app.clock.advance(2 * DAY_MS)
    expect((await signingState(app.deps)).clientId).toBe(state.next!.clientId)
  })

  test('no warning is due while the next certificate starts before the end', async () => {
    const { app } = await startWithTenant()
    const now = app.clock.now()
    await getCertificate(app, { notAfter: now + 9 * DAY_MS })
    const warned = async () => {
      app.logs.length = 0
      await warnOfExpiry(app.deps)
      return app.logs.some(line => line.includes('signing.certificate_expires'))
    }
    expect(await warned()).toBe(false)
    app.clock.set(now + 6 * DAY_MS + 1)
    expect(await warned()).toBe(true)
    await getCertificate(app, { notBefore: now + 8 * DAY_MS, notAfter: now + 60 * DAY_MS })
    expect(await warned()).toBe(false)
  })
})

describe('a chain', () => {
  test('authorities that wallets have are left out, with a note', async () => {
    const { app, key } = await startWithTenant()
    const root = await newAuthority(app)
    const life = { notBefore: app.clock.now() - DAY_MS, notAfter: app.clock.now() + 1000 * DAY_MS }
    const access = await issue({ name: 'CN=Access CA', issuer: root, ...life, extensions: [isAuthority(), signsCertificates()] })
    const csr = await requestNewKey(app.deps, REQUEST, 'test')
    const leaf = await signRequest(app, csr, { issuer: access })
    const chainPem = leaf + pemOf(access.der) + pemOf(root.der)
    const whole = await importSigningKey(app.deps, { ...OWN, chainPem }, 'test')
    expect(certificatesOf(whole.state.chain)).toHaveLength(2)
    expect(sentencesOf(whole.notes)).toEqual(['Left out of the chain, because wallets have it: C=NL, CN=Test Root.'])
    // The access authority itself is on the list: it is an anchor, though another one issued it.
    const listed = await importSigningKey(app.deps, { ...OWN, chainPem, authorities: [pemOf(access.der)] }, 'test')
    expect(sentencesOf(listed.notes)).toEqual([
      'Left out of the chain, because wallets have it: CN=Access CA; C=NL, CN=Test Root.',
    ])
    expect(await chainOf(app, await createVerification(app, key))).toHaveLength(1)
  })

  test('a certificate outside the profile of access certificates, or of an unlisted authority, is taken with a note', async () => {
    const { app } = await startWithTenant()
    const elsewhere = pemOf((await newAuthority(app)).der)
    const plain = { name: 'CN=Shop', extensions: [contacts({ type: 'dns', value: 'verify.example' })] }
    const { notes } = await getCertificate(app, { ...plain, authorities: [elsewhere] })
    expect(sentencesOf(notes)).toEqual([
      'The certificate breaks the profile of access certificates (no organisation identifier in the subject, no contact in the alternative names, no policy 0.4.0.194118.1.x, no address of a revocation list); EU wallets may refuse it.',
      'The certificate leads to none of the access authorities on the list that is loaded; EU wallets will refuse it.',
    ])
    expect((await getCertificate(app)).notes).toEqual([])
  })
})

describe('a key', () => {
  test('a key is erased a day after its certificate was replaced, and its chain stays', async () => {
    const { app, key } = await startWithTenant()
    const start = app.clock.now() + HOUR_MS
    await getCertificate(app, { notBefore: start })
    app.clock.set(start - 1)
    const open = await createVerification(app, key, { ttl_seconds: 3600 })
    const old = await rowOf(app, open.id)
    const sealed = async () => (await findSigningKey(app.deps.db, old.id))!.sealed.length
    app.clock.set(start + 30 * 60_000)
    await retireSigningKeys(app.deps)
    expect((await chainOf(app, open))[0]?.subject).toBe('CN=Vidimus verify.example')
    app.clock.set(start + HOUR_MS)
    await retireSigningKeys(app.deps)
    expect((await findSigningKey(app.deps.db, old.id))!.retiredAt).toBe(start)
    app.clock.set(start + DAY_MS - 1)
    await retireSigningKeys(app.deps)
    expect(await sealed()).toBeGreaterThan(0)
    app.clock.set(start + DAY_MS)
    await retireSigningKeys(app.deps)
    const erased = (await findSigningKey(app.deps.db, old.id))!
    expect([erased.sealed.length, erased.salt.length, erased.chain]).toEqual([0, 0, old.chain])
    expect(() => openPrivateKey(app.deps, erased)).toThrow()
    expect(rowsOf(app, `SELECT actor FROM ${AUDIT_ENTRIES} WHERE action = 'signing.key_erased'`)).toEqual([{ actor: 'system' }])
    expect(await subjectOf(app, key)).toContain('CN=Corner Shop')
    // Nothing is left to do.
    const version = await app.deps.settingsVersion()
    await retireSigningKeys(app.deps)
    expect(await app.deps.settingsVersion()).toBe(version)
  })

  test('rows are sealed again past a key that was erased', async () => {
    const { app, key } = await startWithTenant()
    await getCertificate(app)
    app.clock.advance(DAY_MS)
    await retireSigningKeys(app.deps)
    await app.deps.writeSettings(tx => sealSigningKeysAgain(app.deps, tx))
    expect(await subjectOf(app, key)).toContain('CN=Corner Shop')
  })
})

async function rowOf(app: TestApp, session: string) {
  const [found] = await app.deps.db.select().from(verificationSessions).where(eq(verificationSessions.id, session))
  return (await findSigningKey(app.deps.db, found!.signingKeyId))!
}
