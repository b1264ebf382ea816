// Real `kill -9` of a process that simulates, again and again on one directory: every fact that was told is there afterwards.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { seeded } from '../helpers/seeded.ts'
import type { Ack } from '../invariants/acks.ts'
import { checkInvariants } from '../invariants/check.ts'

const KILLS = 4
const SEED = Number(process.env.SIM_SEED ?? 7)

/** Ten seconds of processes, on a machine of their own. */
const SHARED_MACHINE_MS = 180_000

test(
  'everything acknowledged before a kill of a simulation is there, or erased, as it was acknowledged',
  async () => {
    const dir = temporaryDir()
    const random = seeded(SEED)
    const acks: Ack[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      const told = await killAfter(dir, SEED + kill, 10 + random.below(60), random.below(12))
      acks.push(...told)
      const { violations, counts } = await checkInvariants(dir, { acks })
      expect({ seed: SEED, kill, violations }).toEqual({ seed: SEED, kill, violations: [] })
      expect(counts.acks).toBe(acks.length)
    }
    expect(acks.length).toBeGreaterThan(KILLS * 10)
  },
  SHARED_MACHINE_MS,
)

/** Some milliseconds after the fact of that number: amid whatever comes next. */
async function killAfter(dir: string, seed: number, facts: number, waitMs: number): Promise<Ack[]> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'run-alone.ts'), dir, String(seed)], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let text = ''
  let isKilled = false
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (isKilled || text.split('\n').length <= facts) continue
    isKilled = true
    await Bun.sleep(waitMs)
    child.kill('SIGKILL')
  }
  await child.exited
  if (!isKilled) throw new Error(`it ended by itself: ${await new Response(child.stderr).text()}`)
  return text
    .split('\n')
    .slice(0, -1)
    .map((line): Ack => JSON.parse(line))
}
