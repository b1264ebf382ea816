// Processor time of a creation, or of a whole exchange, by thread, by folder and by function. The profile is kept for Chromium's
// developer tools.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSources, type RequestKind } from './create.ts'
import { exchangeFor } from './exchange.ts'
import { median, runLoad } from './load.ts'
import { fixed, table, whole } from './output.ts'
import { makeTenant, type Server, startProfiled, temporaryDir, threadsUs } from './service.ts'

const SHOWN = 20
/** Until most of what is hot is compiled; the start of the program lies before it as well. */
const WARM_UP_SHARE = 0.5

type Line = { name: string; place: string; selfUs: number; totalUs: number }
type Share = { name: string; us: number }

export type ProfileKind = RequestKind | 'exchange'

type ProfileReport = {
  kind: ProfileKind
  file: string
  count: number
  per_second: number
  /** Processor time of the whole process, by thread. */
  threads: Share[]
  /** Functions of the main thread. Compiled code of the runtime is charged to the function that called it. */
  folders: Share[]
  functions: Line[]
}

export async function benchProfile(kind: ProfileKind, seconds: number, out: string): Promise<ProfileReport> {
  mkdirSync(out, { recursive: true })
  const dataDir = temporaryDir()
  const { key } = await makeTenant(dataDir)
  const service = await startProfiled(dataDir, out)
  const load = async (share: number) =>
    kind === 'exchange'
      ? await exchangeFor(service, dataDir, key, seconds * share)
      : await create(service, kind, key, seconds * share)
  await load(WARM_UP_SHARE)
  const [from, startedAt, before] = [wallUs(), performance.now(), threadsUs(service.pid)]
  const count = await load(1)
  const per_second = count / ((performance.now() - startedAt) / 1000)
  const [until, after] = [wallUs(), threadsUs(service.pid)]
  await service.stop()
  const file = join(
    out,
    readdirSync(out)
      .filter(name => name.endsWith('.cpuprofile'))
      .toSorted()
      .at(-1) ?? '',
  )
  const threads = [...after].map(([name, us]) => ({ name, us: (us - (before.get(name) ?? 0)) / count }))
  const { folders, functions } = sharesOf(readFileSync(file, 'utf8'), { from, until, count })
  return { kind, file, count, per_second, threads: threads.toSorted((a, b) => b.us - a.us), folders, functions }
}

const create = async (service: Server, kind: RequestKind, key: string, seconds: number): Promise<number> =>
  (await runLoad({ endpoint: service, sources: createSources(kind, key), seconds })).answered

/** The clock of the profile. */
const wallUs = (): number => (performance.timeOrigin + performance.now()) * 1000

type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[]
  startTime: number
  samples: number[]
  timeDeltas: number[]
}

type Window = { from: number; until: number; count: number }

/**
 * Microseconds for each of so many. Samples are taken only while JavaScript runs, and the difference to the one before includes
 * the time in which nothing ran: so each counts as long as the interval between most of them.
 */
function sharesOf(text: string, { from, until, count }: Window): { folders: Share[]; functions: Line[] } {
  const { nodes, startTime, samples, timeDeltas } = JSON.parse(text) as Profile
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map(child => [child, id] as const)))
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const stackOf = (sample: number): number[] => {
    const stack: number[] = []
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) stack.push(id)
    return stack
  }
  const placeOf = (id: number) => (frames.get(id)?.url ?? '').replace(/^.*\/(?=(src|node_modules)\/)/, '')
  const lines = new Map<string, Line>()
  const lineOf = (id: number): Line => {
    const name = frames.get(id)?.functionName || '(anonymous)'
    const place = placeOf(id)
    const known = lines.get(`${name} ${place}`) ?? { name, place, selfUs: 0, totalUs: 0 }
    lines.set(`${name} ${place}`, known)
    return known
  }
  const folders = new Map<string, number>()
  const us = median(timeDeltas) / count
  let at = startTime
  samples.forEach((sample, i) => {
    at += timeDeltas[i] ?? 0
    if (at < from || at > until) return
    const stack = stackOf(sample)
    lineOf(sample).selfUs += us
    for (const line of new Set(stack.map(lineOf))) line.totalUs += us
    const folder = folderOf(stack.map(placeOf).find(place => /^(src|node_modules)\//.test(place)))
    folders.set(folder, (folders.get(folder) ?? 0) + us)
  })
  return {
    folders: [...folders].map(([name, time]) => ({ name, us: time })).toSorted((a, b) => b.us - a.us),
    functions: [...lines.values()].toSorted((a, b) => b.totalUs - a.totalUs),
  }
}

/** A room of the service, or a package. */
const folderOf = (place: string | undefined): string =>
  /^(src\/[^/]+|node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(place ?? '')?.[1] ?? '(the runtime alone)'

export function describeProfile({ kind, file, count, per_second, threads, folders, functions }: ProfileReport): string {
  const cells = ({ name, place, selfUs, totalUs }: Line) => [fixed(totalUs, 1), fixed(selfUs, 1), name, place]
  const shares = (heading: string, of: Share[]) =>
    table(
      ['us', heading],
      of.filter(({ us }) => us >= 1).map(({ name, us }) => [fixed(us, 1), name]),
    )
  const bySelf = functions.toSorted((a, b) => b.selfUs - a.selfUs)
  const sampled = folders.reduce((sum, { us }) => sum + us, 0)
  return [
    `${whole(count)} ${kind === 'exchange' ? 'exchanges' : 'creations'}, ${whole(per_second)}/s under the profiler, which slows them. Microseconds of processor time for each, after warming up.`,
    '',
    shares('thread', threads),
    '',
    `JavaScript was seen for ${whole(sampled)} us of the main thread's. Compiled code of the runtime is charged to its caller.`,
    '',
    shares('folder', folders),
    '',
    table(['with callees', 'itself', 'function', 'in'], functions.slice(0, SHOWN).map(cells)),
    '',
    table(['with callees', 'itself', 'function', 'in'], bySelf.slice(0, SHOWN).map(cells)),
    '',
    file,
  ].join('\n')
}
