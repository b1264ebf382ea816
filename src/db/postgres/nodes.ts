// The running nodes of one installation. Times are the database's: the clocks of the nodes need not agree.
import type { Job, Leases } from '../engine.ts'
import type { Runner } from './pool.ts'
import type { Session } from './session.ts'
import { followTimeline } from './timeline.ts'

export const BEAT_EVERY_MS = 1000
/** A node without a beat for this long is dead. */
const DEAD_AFTER_MS = 4000
/** A node ends its life this much earlier than the others count it as dead. One that stood still longer begins another. */
const LIFE_MARGIN_MS = 500
/** A job whose node did not end it is given to another node after this time. */
const JOB_LEASE_MS = 120_000

/** The ids of living nodes, for statements that free what dead ones held. */
export const LIVING_NODES = `SELECT id FROM nodes WHERE beat_at > clock_timestamp() - interval '${DEAD_AFTER_MS} ms'`

export type Node = { id: string; version: string; startedAt: number; beatAt: number }

type Nodes = {
  /** When the last beat was written; for readiness. */
  lastBeatAt(): number
  begin: Leases['begin']
  whenLeader<Given>(job: Job<Given>): Job<Given>
  stop(): Promise<void>
}

type Joining = {
  id: string
  version: string
  /** A command is no node: it holds nothing that others would wait for. */
  isServer: boolean
  /** A standby has become the server. */
  onTakenOver: (timeline: number) => void
}

/** Waits after a crash of the server: the table is empty until every node has written its next beat. */
export async function awaitBeats(session: Session): Promise<void> {
  await session.rows('SELECT pg_sleep(greatest(0, 4 - extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())))')
}

/** No node can join or write a beat until the end of the transaction. */
export async function keepNodesOut(session: Session): Promise<void> {
  await session.rows('LOCK TABLE nodes IN SHARE MODE')
}

export const listLiving = (session: Pick<Runner, 'rows'>): Promise<Node[]> =>
  session.rows<Node>(
    `SELECT id, version, (extract(epoch FROM started_at) * 1000)::bigint AS "startedAt", (extract(epoch FROM beat_at) * 1000)::bigint AS "beatAt"
     FROM nodes WHERE id IN (${LIVING_NODES}) ORDER BY started_at`,
    [],
  )

export async function joinNodes(session: Session, { id, version, isServer, onTakenOver }: Joining): Promise<Nodes> {
  let lastBeatAt = 0
  let life = { number: 0, until: 0 }
  let isStopped = false
  const beat = async () => {
    if (!isServer) return
    const begunAt = Date.now()
    await session.rows(
      `INSERT INTO nodes (id, version) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET beat_at = clock_timestamp()`,
      [id, version],
    )
    lastBeatAt = performance.now()
    life = { number: life.number + Number(begunAt > life.until), until: begunAt + DEAD_AFTER_MS - LIFE_MARGIN_MS }
  }
  await beat()
  const timeline = isServer ? await followTimeline(session, onTakenOver) : undefined
  let beating = Promise.resolve()
  let isBeating = false
  const timer = setInterval(() => {
    if (isBeating || isStopped) return
    isBeating = true
    // A beat that fails is written by the next one; readiness tells.
    beating = beat()
      .then(timeline?.look)
      .catch(() => {})
      .finally(() => {
        isBeating = false
      })
  }, BEAT_EVERY_MS).unref()

  return {
    lastBeatAt: () => lastBeatAt,
    begin() {
      const { number } = life
      return () => (life.number === number && life.until > Date.now() ? life.until : undefined)
    },
    whenLeader: job => ({
      ...job,
      async run(given, signal) {
        if (!(await begin(session, job, id))) return
        try {
          await job.run(given, signal)
        } finally {
          await session.rows('UPDATE job_runs SET leased_until = clock_timestamp() WHERE name = $1 AND node = $2', [job.name, id])
        }
      },
    }),
    async stop() {
      isStopped = true
      clearInterval(timer)
      await beating
      await session.rows('DELETE FROM nodes WHERE id = $1', [id]).catch(() => {})
      await session.close()
    },
  }
}

/** True for the one node that may run the job now: it is due, and nobody else has it. */
async function begin(session: Session, { name, everyMs }: Job<never>, node: string): Promise<boolean> {
  const begun = await session.rows(
    `INSERT INTO job_runs AS run (name, node, begun_at, leased_until)
     VALUES ($1, $2, clock_timestamp(), clock_timestamp() + $4 * interval '1 ms')
     ON CONFLICT (name) DO UPDATE SET node = excluded.node, begun_at = excluded.begun_at, leased_until = excluded.leased_until
     WHERE run.begun_at <= clock_timestamp() - $3 * interval '1 ms'
       AND (run.leased_until <= clock_timestamp() OR run.node NOT IN (${LIVING_NODES}))
     RETURNING name`,
    // Timers of several nodes are out of step: a run is due a little before its time.
    [name, node, Math.floor(everyMs * 0.9), JOB_LEASE_MS],
  )
  return begun.length > 0
}
