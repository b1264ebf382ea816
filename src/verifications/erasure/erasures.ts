// The log of erasures, beside the backups. A backup from before an erasure still has the erased
// session, and a restore must erase it again. The line is durable before the erasure: after a kill
// in between, a restore erases too much, never too little. It names nobody: a line is an HMAC of a
// session's id, as on the audit chain, and a time; after "rekey --data" one line for each name, since a backup from before it
// knows only the earlier ones. Its heading names the installation, as an HMAC too:
// the log of another one says nothing about a backup of this one.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Audit } from '../../audit/append.ts'
import type { Audited } from '../../audit/deps.ts'
import { readErasures } from '../../audit/erasures.ts'
import { backupsFolder, giveToOwner, makeBackupsFolder, publish } from '../../db/files.ts'
import type { Configured, Ground, Reading } from '../../ground.ts'

export type Erasures = {
  /** Settles when the lines are durable. */
  note(ids: readonly string[], at: number): Promise<void>
  /** Makes the log if there is none, from the audit chain. */
  ensure(): Promise<void>
  /** Drops erasures from before the oldest backup. */
  prune(before: number): Promise<void>
}

export type ErasureLog = {
  /** The log has every erasure of its installation at or after this time. */
  since: number
  installation: string
  /** Subjects, named as on the audit chain, with their time. */
  subjects: Map<string, number>
}

export const erasureLogIn = (folder: string): string => join(folder, 'erasures.log')

/** The first name: it stays when keys are replaced. */
export const installationOf = ({ namesOf }: Audit): string => namesOf('erasures.log')[0]!

type ErasuresDeps = Reading & Configured & Audited & Pick<Ground, 'space'>

export function createErasures({ config, db, audit, space }: ErasuresDeps): Erasures {
  const file = erasureLogIn(backupsFolder(config.dataDir))
  const installation = installationOf(audit)
  let waiting: string[] = []
  let next: Promise<void> | undefined
  let last: Promise<void> = Promise.resolve()

  function inTurn(act: () => Promise<void>): Promise<void> {
    const turn = last.then(act)
    last = turn.catch(() => {})
    return turn
  }

  async function ensure(): Promise<void> {
    if (existsSync(file)) return
    makeBackupsFolder(config.dataDir)
    writeErasureLog(file, { since: 0, installation, subjects: await readErasures(db) })
  }

  async function append(lines: string[]): Promise<void> {
    await ensure()
    const handle = await open(file, 'a', 0o600)
    try {
      // A kill or a full disk may have cut off the line before.
      await handle.write(`\n${lines.join('\n')}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
  }

  async function appendWaiting(): Promise<void> {
    const lines = waiting
    waiting = []
    next = undefined
    try {
      await append(lines)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ENOSPC' || !space.makeRoom()) throw error
      await append(lines)
    }
  }

  return {
    note(ids, at) {
      waiting.push(...ids.flatMap(id => audit.namesOf(id).map(name => `${name} ${at}`)))
      next ??= inTurn(appendWaiting)
      return next
    },
    ensure: () => inTurn(ensure),
    prune: before =>
      inTurn(async () => {
        const log = readErasureLog(file)
        if (!log || log.since >= before) return
        const subjects = new Map([...log.subjects].filter(([, at]) => at >= before))
        writeErasureLog(file, { since: before, installation, subjects })
      }),
  }
}

/** Lines that were cut off are ignored. Without its heading a log counts as incomplete, and as nobody's. */
export function readErasureLog(file: string): ErasureLog | undefined {
  if (!existsSync(file)) return undefined
  const [heading = '', ...lines] = readFileSync(file, 'utf8').split('\n')
  const [, since, installation = ''] = /^vidimus erasures since (\d{1,15}) of ([0-9a-f]{64})$/.exec(heading) ?? []
  const entries = lines.flatMap(line => {
    const [, subject, at] = /^([0-9a-f]{64}) (\d{1,15})$/.exec(line) ?? []
    return subject === undefined ? [] : [[subject, Number(at)] as const]
  })
  return { since: since === undefined ? Number.POSITIVE_INFINITY : Number(since), installation, subjects: new Map(entries) }
}

export function writeErasureLog(file: string, { since, installation, subjects }: ErasureLog): void {
  const heading = `vidimus erasures since ${since} of ${installation}`
  const lines = [...subjects].map(([subject, at]) => `${subject} ${at}\n`)
  writeFileSync(`${file}.part`, `${heading}\n${lines.join('')}`, { mode: 0o600 })
  giveToOwner(`${file}.part`, file)
  publish(`${file}.part`, file)
}
