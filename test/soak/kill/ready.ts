// I12: ready again within 2 s, as it is on a machine that does nothing else. On one that is busy with other things every start
// takes longer, also that of a service that was never killed. So a start beyond 2 s is made again, on copies of the directory as
// the kill left it, each beside a bare start: the same program on a directory without anything in it. Its time may be as many
// times 2 s as the bare one takes of the fastest bare one of this run. What is too slow because of what it found is so each time;
// then it is a violation.
import { rmSync } from 'node:fs'
import { temporaryDir } from '../../helpers/app.ts'
import { copyOf } from '../../helpers/directories.ts'
import { type Soaked, serviceOn } from '../service.ts'

const READY_MAX_MS = 2000
const BARE_STARTS = 5
const TRIES = 3

type Environment = Record<string, string>
type Started = { server: Soaked; ms: number }

export async function createReadiness() {
  const bareDir = temporaryDir()
  const samples = { ready: [] as number[], bare: [] as number[] }

  async function startBare(): Promise<number> {
    const { server, ms } = await startReady(bareDir)
    await server.stop()
    samples.bare.push(ms)
    return ms
  }

  // The first makes its database and its keys.
  await startBare()
  samples.bare.length = 0
  for (let i = 0; i < BARE_STARTS; i++) await startBare()

  /** How long until it takes requests again, and what is wrong with that. */
  async function startAgain(dir: string, environment: Environment): Promise<{ server: Soaked; problems: string[] }> {
    const asKilled = copyOf(dir)
    const { server, ms } = await startReady(dir, environment)
    samples.ready.push(ms)
    const problems = ms > READY_MAX_MS ? await repeat(asKilled, environment) : []
    rmSync(asKilled, { recursive: true })
    return { server, problems }
  }

  async function repeat(asKilled: string, environment: Environment): Promise<string[]> {
    const told: string[] = []
    for (let i = 0; i < TRIES; i++) {
      const dir = copyOf(asKilled)
      // Its messages are not the ones that are counted.
      const { server, ms } = await startReady(dir, { ...environment, PORT: '0', VIDIMUS_EGRESS_ALLOW: '' })
      await server.stop()
      rmSync(dir, { recursive: true })
      const bareMs = await startBare()
      if (ms <= READY_MAX_MS * Math.max(1, bareMs / Math.min(...samples.bare))) return []
      told.push(`${Math.round(ms)} ms beside a bare start of ${Math.round(bareMs)} ms`)
    }
    return [`I12 ready again after ${told.join(', ')}`]
  }

  return { samples, startAgain }
}

async function startReady(dir: string, environment: Environment = {}): Promise<Started> {
  const startedAt = performance.now()
  const server = await serviceOn(dir, environment)
  const { status } = await fetch(`${server.url}/readyz`)
  if (status !== 200) throw new Error(`not ready: ${status}`)
  return { server, ms: performance.now() - startedAt }
}
