// The provider beside `oidc-provider`, which is certified: both answer the same requests, and every difference has a reason.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { logIn } from './customer.ts'
import { DIFFERENCES } from './differences.ts'
import { AUTHORIZE, LOOPBACK, REDIRECT, TOKEN } from './differential-cases.ts'
import { startOther } from './other-provider.ts'
import { startProvider, stopProviders } from './provider.ts'
import { authorize, exchange, type Side, usualRequest } from './side.ts'

let ours: Side
let theirs: Side & { stop(): Promise<void> }

beforeAll(async () => {
  ours = await startOurs()
  theirs = await startOther()
})
afterAll(async () => {
  await theirs.stop()
  stopProviders()
})

async function startOurs(): Promise<Side> {
  const provider = await startProvider()
  const redirect_uris = [REDIRECT]
  const clients = {
    secret: await provider.client({ redirect_uris }),
    other: await provider.client({ redirect_uris }),
    public: await provider.client({ redirect_uris: [LOOPBACK], auth: 'none' }),
    old: await provider.client({ redirect_uris, pkce: 'optional' }),
  }
  const side: Side = {
    issuer: provider.issuer,
    authorizeUrl: `${provider.issuer}/authorize`,
    tokenUrl: `${provider.issuer}/token`,
    clients,
    isBegun: location => /\/v\/vs_\w+$/.test(location),
    async newCode(client, withChallenge) {
      const back = await logIn(provider.app, usualRequest(side, client, withChallenge))
      return back.searchParams.get('code') ?? ''
    },
  }
  return side
}

async function differencesOf<Case extends { name: string }>(cases: Case[], ask: (side: Side, asked: Case) => Promise<string>) {
  const found: Record<string, [string, string]> = {}
  for (const each of cases) {
    const answers: [string, string] = [await ask(ours, each), await ask(theirs, each)]
    if (answers[0] !== answers[1]) found[each.name] = answers
  }
  return found
}

const explained = (kind: 'authorize' | 'token') =>
  Object.fromEntries(DIFFERENCES.filter(each => each.kind === kind).flatMap(({ cases }) => Object.entries(cases)))

test('authorization requests get the answers of oidc-provider, but for the differences that have a reason', async () => {
  expect(await differencesOf(AUTHORIZE, authorize)).toEqual(explained('authorize'))
})

test('token requests get the answers of oidc-provider, but for the differences that have a reason', async () => {
  expect(await differencesOf(TOKEN, exchange)).toEqual(explained('token'))
})

test('requests to compare are more than 200, and each has a name of its own', () => {
  for (const cases of [AUTHORIZE, TOKEN]) expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
  expect(AUTHORIZE.length + TOKEN.length).toBeGreaterThan(200)
})
