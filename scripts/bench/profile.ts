// Processor time of a creation, or of a whole exchange, by function. The profile is kept for Chromium's developer tools.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSources, type RequestKind } from './create.ts'
import { exchangeFor } from './exchange.ts'
import { runLoad } from './load.ts'
import { fixed, table, whole } from './output.ts'
import { makeTenant, type Server, startProfiled, temporaryDir } from './service.ts'

const SHOWN = 30

type Line = { name: string; place: string; selfUs: number; totalUs: number }

export type ProfileKind = RequestKind | 'exchange'

export type ProfileReport = { kind: ProfileKind; file: string; count: number; per_second: number; functions: Line[] }

export async function benchProfile(kind: ProfileKind, seconds: number, out: string): Promise<ProfileReport> {
  mkdirSync(out, { recursive: true })
  const dataDir = temporaryDir()
  const { key } = await makeTenant(dataDir)
  const service = await startProfiled(dataDir, out)
  const startedAt = performance.now()
  const count =
    kind === 'exchange' ? await exchangeFor(service, dataDir, key, seconds) : await create(service, kind, key, seconds)
  const per_second = count / ((performance.now() - startedAt) / 1000)
  await service.stop()
  const file = join(
    out,
    readdirSync(out)
      .filter(name => name.endsWith('.cpuprofile'))
      .toSorted()
      .at(-1) ?? '',
  )
  return { kind, file, count, per_second, functions: linesOf(readFileSync(file, 'utf8'), count) }
}

const create = async (service: Server, kind: RequestKind, key: string, seconds: number): Promise<number> =>
  (await runLoad({ endpoint: service, sources: createSources(kind, key), seconds })).answered

type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

/** Microseconds for each of so many, of each function by itself and with what it calls. */
function linesOf(text: string, count: number): Line[] {
  const { nodes, samples, timeDeltas } = JSON.parse(text) as Profile
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map(child => [child, id] as const)))
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const lines = new Map<string, Line>()
  const lineOf = (id: number): Line => {
    const { functionName = '', url = '' } = frames.get(id) ?? {}
    const name = functionName || '(anonymous)'
    const place = url.replace(/^.*\/(?=(src|node_modules)\/)/, '')
    const known = lines.get(`${name} ${place}`) ?? { name, place, selfUs: 0, totalUs: 0 }
    lines.set(`${name} ${place}`, known)
    return known
  }
  samples.forEach((sample, i) => {
    const us = (timeDeltas[i] ?? 0) / count
    lineOf(sample).selfUs += us
    const stack = new Set<Line>()
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) stack.add(lineOf(id))
    for (const line of stack) line.totalUs += us
  })
  return [...lines.values()].sort((a, b) => b.totalUs - a.totalUs)
}

export function describeProfile({ kind, file, count, per_second, functions }: ProfileReport): string {
  const cells = ({ name, place, selfUs, totalUs }: Line) => [fixed(totalUs, 1), fixed(selfUs, 1), name, place]
  const bySelf = functions.toSorted((a, b) => b.selfUs - a.selfUs)
  return [
    `${whole(count)} ${kind === 'exchange' ? 'exchanges' : 'creations'}, ${whole(per_second)}/s under the profiler, which slows them. Microseconds for each, the start of the program included.`,
    '',
    table(['with callees', 'itself', 'function', 'in'], functions.slice(0, SHOWN).map(cells)),
    '',
    table(['with callees', 'itself', 'function', 'in'], bySelf.slice(0, SHOWN).map(cells)),
    '',
    file,
  ].join('\n')
}
