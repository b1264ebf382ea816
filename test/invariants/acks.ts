import type { Database } from 'bun:sqlite'
import { type Checked, named, shortened } from './checked.ts'

/** Facts that clients were told, in order. An undefined member was not mentioned. */
export type Ack =
  | { fact: 'created'; id: string; created_at?: string; expires_at?: string; template?: string }
  | { fact: 'ended'; id: string; status: 'completed' | 'failed' | 'expired'; webhook?: boolean }
  | { fact: 'redeemed'; id: string }
  /** Asked for, and no answer so far: it may be there or gone. */
  | { fact: 'erasing'; id: string }
  | { fact: 'erased'; id: string }
  | { fact: 'enrolled'; device: string }
  | { fact: 'revoked'; device: string }

type SessionRow = {
  status: string
  template: string | null
  created_at: number
  expires_at: number
  redeemed_at: number | null
  deliveries: number
}

type SessionAck = Exclude<Ack, { device: string }>

/** Each fact that was acknowledged is there, or gone, as it was said. */
export function checkAcks(sqlite: Database, acks: Iterable<Ack>): Checked {
  const sessions = new Map<string, SessionAck[]>()
  const devices = new Map<string, 'enrolled' | 'revoked'>()
  const problems = new Map<string, string[]>()
  const note = (problem: string, place: string) => {
    const places = problems.get(problem) ?? []
    places.push(place)
    problems.set(problem, places)
  }
  let count = 0
  for (const ack of acks) {
    count++
    if (ack.fact === 'enrolled' || ack.fact === 'revoked') {
      if (ack.fact === 'enrolled' && devices.has(ack.device)) note('two clients were told that they enrolled', ack.device)
      devices.set(ack.device, ack.fact)
    } else sessions.set(ack.id, [...(sessions.get(ack.id) ?? []), ack])
  }
  for (const [id, told] of sessions) for (const problem of sessionProblems(find(sqlite, id), told)) note(problem, shortened(id))
  for (const [id, fact] of devices) {
    const row = sqlite.query<{ status: string }, [string]>('SELECT status FROM devices WHERE id = ?').get(id)
    const isAsTold = fact === 'revoked' ? row?.status === 'revoked' : row !== null && row.status !== 'pending'
    if (!isAsTold) note(`a device that was ${fact} is ${row?.status ?? 'not there'}`, id)
  }
  const violations = [...problems].flatMap(([problem, places]) => named(problem, places))
  return { name: 'I1', what: 'what was acknowledged is there, or gone, as it was said', violations, counts: { acks: count } }
}

const find = (sqlite: Database, id: string): SessionRow | null =>
  sqlite
    .query<SessionRow, [string]>(
      `SELECT status, template, created_at, expires_at, redeemed_at,
         (SELECT count(*) FROM webhook_deliveries WHERE verification_id = s.id) AS deliveries FROM verification_sessions AS s WHERE id = ?`,
    )
    .get(id)

function sessionProblems(row: SessionRow | null, told: readonly SessionAck[]): string[] {
  if (told.some(({ fact }) => fact === 'erased')) return row ? ['an erased session is there'] : []
  if (!row) return told.some(({ fact }) => fact === 'erasing') ? [] : ['an acknowledged session is not there']
  const redemptions = told.filter(({ fact }) => fact === 'redeemed').length
  return [
    ...(redemptions > 1 ? ['a response code was redeemed twice'] : []),
    ...(redemptions === 1 && row.redeemed_at === null ? ['a redemption is not there'] : []),
    ...told.flatMap(ack =>
      ack.fact === 'created' ? createdProblems(row, ack) : ack.fact === 'ended' ? endedProblems(row, ack) : [],
    ),
  ]
}

function createdProblems(row: SessionRow, { created_at, expires_at, template }: Extract<Ack, { fact: 'created' }>): string[] {
  const isAsTold =
    (created_at === undefined || Date.parse(created_at) === row.created_at) &&
    (expires_at === undefined || Date.parse(expires_at) === row.expires_at) &&
    (template === undefined || template === row.template)
  return isAsTold ? [] : ['a session differs from its 201']
}

/** `expired` may not be stored yet: the deadline decides. */
function endedProblems(row: SessionRow, { status, webhook }: Extract<Ack, { fact: 'ended' }>): string[] {
  const isAsTold = row.status === status || (status === 'expired' && row.status === 'pending')
  if (!isAsTold) return [`a session that was ${status} is ${row.status}`]
  return webhook === undefined || row.deliveries === (webhook ? 1 : 0)
    ? []
    : [`${row.deliveries} messages for a finished session`]
}
