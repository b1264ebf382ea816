// A shop's day in steps: sessions are created, answered, redeemed and erased; tills are paired, rotated and revoked.

import type { TokenPair } from '../../src/devices/schema.ts'
import { decline, type Holder } from '../../src/sandbox/wallet/wallet.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import type { Ack } from '../invariants/acks.ts'
import { createVerification, type TestApp } from './app.ts'
import { pair, refresh } from './devices.ts'
import { codeIn, formOf, openSession, type Party, postTo } from './exchange.ts'
import type { Seeded } from './seeded.ts'
import { holderOf } from './wallet.ts'

type Trade = Party & { holder: Holder; random: Seeded; sessions: string[]; tills: TokenPair[]; tell: (ack: Ack) => void }

export async function openTrade(app: TestApp, key: string, random: Seeded, tell: (ack: Ack) => void): Promise<Trade> {
  return { app, key, holder: await holderOf(app), random, sessions: [], tills: [], tell }
}

/** Runs a random step. Each step notes what its client was answered. */
export async function trade(shop: Trade): Promise<void> {
  shop.app.clock.advance(1 + shop.random.below(500))
  await STEPS[shop.random.below(STEPS.length)]!(shop)
}

const WEBHOOK = { webhook_url: 'https://hooks.shop.example/' }

const STEPS: ((shop: Trade) => Promise<void>)[] = [create, create, decided, decided, completed, paired, rotated, revoked, erased]

async function create(shop: Trade): Promise<void> {
  tellCreated(shop, await createVerification(shop.app, shop.key, { purpose: 'to sell a bottle', metadata: { order: 'o-1' } }))
}

function tellCreated({ tell, sessions }: Trade, { id, created_at, expires_at, template }: Verification): void {
  tell({ fact: 'created', id, created_at, expires_at, template })
  sessions.push(id)
}

async function decided(shop: Trade): Promise<void> {
  const session = await openSession(shop, WEBHOOK)
  tellCreated(shop, session.created)
  const { status } = await postTo(session, (await decline(session.request)).form)
  if (status === 200) shop.tell({ fact: 'ended', id: session.created.id, status: 'failed', webhook: true })
}

async function completed(shop: Trade): Promise<void> {
  const session = await openSession(shop, { ...WEBHOOK, redirect_url: 'https://shop.example/done' })
  tellCreated(shop, session.created)
  const { id } = session.created
  const { body } = await postTo(session, await formOf(session, shop.holder))
  shop.tell({ fact: 'ended', id, status: 'completed', webhook: true })
  const response_code = codeIn(body)
  const redeemed = await shop.app.call('POST', `/v1/verifications/${id}/redeem`, { key: shop.key, body: { response_code } })
  if (redeemed.status === 200) shop.tell({ fact: 'redeemed', id })
}

async function paired(shop: Trade): Promise<void> {
  const till = await pair(shop.app, shop.key)
  shop.tell({ fact: 'enrolled', device: till.device.id })
  shop.tills.push(till)
}

async function rotated(shop: Trade): Promise<void> {
  const place = shop.random.below(shop.tills.length)
  const till = shop.tills[place]
  if (!till) return await paired(shop)
  const { status, body } = await refresh(shop.app, till.refresh_token)
  if (status === 200) shop.tills[place] = body
}

async function revoked(shop: Trade): Promise<void> {
  const [till] = shop.tills.splice(shop.random.below(shop.tills.length), 1)
  if (!till) return await paired(shop)
  const { status } = await shop.app.call('DELETE', `/v1/devices/${till.device.id}`, { key: shop.key })
  if (status === 200) shop.tell({ fact: 'revoked', device: till.device.id })
}

async function erased(shop: Trade): Promise<void> {
  const [id] = shop.sessions.splice(shop.random.below(shop.sessions.length), 1)
  if (!id) return await create(shop)
  const { status } = await shop.app.call('DELETE', `/v1/verifications/${id}`, { key: shop.key })
  if (status === 200) shop.tell({ fact: 'erased', id })
}
