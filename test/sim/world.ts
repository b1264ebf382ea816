import { cpSync, rmSync } from 'node:fs'
import { recordShownAt } from '../../src/db/shown-at.ts'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import type { Holder } from '../../src/sandbox/wallet/wallet.ts'
import { startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { type Receiver as ReceiverServer, receive } from '../helpers/receiver.ts'
import { holderOf } from '../helpers/wallet.ts'
import { DAY, DELAYS_MS, type Receiver, replyOf } from './model.ts'

/** Documents are valid for longer; a new set is dear. */
const HOLDER_MS = 5 * DAY

/** One service with its receivers; many runs share it, each with a tenant of its own. */
export type World = {
  app: TestApp
  receiver: ReceiverServer
  /** An address without a listener. */
  deadPort: number
  holders: Map<string, { holder: Holder; madeAt: number }>
  /** How many runs it has seen. */
  runs: number
}

export async function openWorld(options: { dir?: string; now?: number } = {}): Promise<World> {
  const receiver = receive(({ path, headers }) => {
    const kind = path.split('/').at(-1) as Receiver
    const reply = replyOf(kind, Number(headers['x-service-attempt']))
    return new Response(null, reply)
  })
  const deadPort = portOfNobody()
  const world = { receiver, deadPort, holders: new Map(), runs: 0 }
  return { ...world, app: await startIn(world, options) }
}

export async function closeWorld({ app, receiver }: World): Promise<void> {
  await app.stop()
  receiver.stop()
  // A soak opens thousands.
  rmSync(app.dir, { recursive: true, force: true })
}

function startIn({ receiver, deadPort }: Pick<World, 'receiver' | 'deadPort'>, options: { dir?: string; now?: number }) {
  return startApp({
    ...options,
    resolve: async () => ['127.0.0.1'],
    config: { egressAllow: [receiver.allow, { ...receiver.allow, port: deadPort }], webhookDelaysMs: DELAYS_MS },
  })
}

function portOfNobody(): number {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const port = server.port ?? 0
  void server.stop(true)
  return port
}

/** A clean stop, and a start on the same directory. */
export async function restart(world: World, wall: number): Promise<void> {
  await world.app.stop()
  world.app = await startIn(world, { dir: world.app.dir, now: wall })
}

/** The files as they lie there, without being closed: what a machine finds that lost its power just after a heartbeat. */
export async function crash(world: World, wall: number): Promise<void> {
  await recordShownAt(world.app.deps, world.app.deps.now())
  const dir = temporaryDir()
  cpSync(world.app.dir, dir, { recursive: true })
  const left = world.app
  world.app = await startIn(world, { dir, now: wall })
  await left.stop()
  rmSync(left.dir, { recursive: true, force: true })
}

export async function holderFor(world: World, persona: PersonaId, now: number): Promise<Holder> {
  const known = world.holders.get(persona)
  if (known && now - known.madeAt < HOLDER_MS) return known.holder
  const holder = await holderOf(world.app, persona)
  world.holders.set(persona, { holder, madeAt: now })
  return holder
}
