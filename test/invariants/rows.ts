// What must hold of the rows. Sealed columns are not opened: whether a finished session owed a message is known only where somebody says so (acks).
import type { Database } from 'bun:sqlite'
import type { ChainStory } from './chain.ts'
import { type Checked, countOf, violationsOf } from './checked.ts'

const REPLAY_MS = 86_400_000
/** A burst of creations runs ahead of the clock by some milliseconds. */
const AHEAD_MS = 60_000
const PLANS = "CASE plan WHEN 'trial' THEN 100 WHEN 'standard' THEN 10000 ELSE 100000 END"

const utcDay = (column: string) => `strftime('%Y-%m-%d', ${column} / 1000, 'unixepoch')`
const short = (column: string) => `substr(${column}, 1, 11) || '…'`
const dangling = (table: string, of: string, key: string) =>
  `SELECT rowid FROM ${table} AS child WHERE NOT EXISTS
     (SELECT 1 FROM ${of} AS parent WHERE parent.id = child.${key} AND parent.tenant_id = child.tenant_id)`

export function checkFile(sqlite: Database): Checked {
  const violations = violationsOf(sqlite, {
    quick_check: "SELECT quick_check FROM pragma_quick_check WHERE quick_check <> 'ok'",
    'a reference leads nowhere': 'SELECT "table" || \' row \' || rowid FROM pragma_foreign_key_check',
  })
  return { name: 'I10', what: 'the file is whole and every reference holds', violations, counts: {} }
}

export function checkOrder(sqlite: Database): Checked {
  const violations = violationsOf(sqlite, {
    'created no later than the session before it': `SELECT ${short('id')} FROM (SELECT id, created_at,
       lag(created_at) OVER (PARTITION BY tenant_id ORDER BY audit_seq) AS before FROM verification_sessions) WHERE created_at <= before`,
    'a session without its record on the chain': `SELECT ${short('id')} FROM verification_sessions AS s LEFT JOIN audit_records AS r ON r.seq = s.audit_seq
       WHERE r.action IS NOT 'verification.created' OR r.tenant_id <> s.tenant_id OR r.at <> s.created_at`,
    'a result without its record on the chain': `SELECT ${short('verification_id')} FROM verification_results AS v
       JOIN verification_sessions AS s ON s.id = v.verification_id LEFT JOIN audit_records AS r ON r.seq = v.audit_seq
       WHERE r.action IS NOT 'verification.' || CASE s.status WHEN 'pending' THEN 'created' ELSE s.status END OR r.tenant_id <> s.tenant_id`,
  })
  const counts = { sessions: countOf(sqlite, 'verification_sessions') }
  return { name: 'I1', what: 'sessions stand in one order, each with its record', violations, counts }
}

/** Both sides of every day: what was counted, and what is there or was erased. */
export function checkUsage(sqlite: Database, { created, erased }: ChainStory): Checked {
  const byDay = (query: string) =>
    new Map(
      sqlite
        .query<{ day: string; n: number }, []>(query)
        .all()
        .map(({ day, n }) => [day, n]),
    )
  const counted = byDay("SELECT tenant_id || ' ' || day AS day, verifications_created AS n FROM usage_days")
  const live = byDay(
    `SELECT tenant_id || ' ' || ${utcDay('created_at')} AS day, count(*) AS n FROM verification_sessions GROUP BY 1`,
  )
  const violations = [...new Set([...counted.keys(), ...live.keys(), ...created.keys()])].flatMap(day => {
    const [n, there, gone, recorded] = [counted, live, erased, created].map(each => each.get(day) ?? 0) as [
      number,
      number,
      number,
      number,
    ]
    return n === there + gone && n === recorded
      ? []
      : [`usage of ${day} is ${n}: ${there} live, ${gone} erased, ${recorded} on the chain`]
  })
  // The quota before a change is sealed: days up to the last change are not judged.
  const exceeded = violationsOf(sqlite, {
    'more than the quota': `WITH changes AS (SELECT tenant_id, ${utcDay('max(at)')} AS day FROM audit_records
       WHERE action = 'tenant.changed' GROUP BY tenant_id)
       SELECT u.tenant_id || ' ' || u.day FROM usage_days AS u JOIN tenants ON id = u.tenant_id LEFT JOIN changes USING (tenant_id)
       WHERE verifications_created > coalesce(daily_quota, ${PLANS}) AND u.day > coalesce(changes.day, '')`,
  })
  return {
    name: 'I2',
    what: 'usage is what is live and what was erased, within the quota',
    violations: [...violations, ...exceeded],
    counts: { tenant_days: counted.size },
  }
}

const OUTCOMES = `SELECT s.tenant_id || ' ' || s.environment AS owner, ${utcDay('created_at')} AS day, 'created' AS outcome FROM verification_sessions AS s
  UNION ALL SELECT s.tenant_id || ' ' || s.environment, ${utcDay('coalesce(r.created_at, s.expires_at)')}, s.status
  FROM verification_sessions AS s LEFT JOIN verification_results AS r ON r.verification_id = s.id AND r.tenant_id = s.tenant_id
  WHERE s.status <> 'pending'`
const ANSWERED = `SELECT s.tenant_id || ' ' || s.environment AS owner, ${utcDay('r.created_at')} AS day, 'answered' AS outcome FROM verification_sessions AS s
  JOIN verification_results AS r ON r.verification_id = s.id AND r.tenant_id = s.tenant_id WHERE s.status <> 'pending' AND s.responded_at IS NOT NULL`
const COUNTED = `SELECT tenant_id || ' ' || environment AS owner, day,
  CASE WHEN outcome IN ('created', 'completed', 'expired') THEN outcome ELSE 'failed' END AS outcome, count FROM outcome_days
  UNION ALL SELECT tenant_id || ' ' || environment, day, 'answered', count FROM answer_time_days`

/** Reasons of failures are sealed: they are counted together. A session that was erased may have been counted or not. */
export function checkOutcomes(sqlite: Database, { erased }: ChainStory): Checked {
  const sums = sqlite
    .query<{ owner: string; day: string; outcome: string; live: number; counted: number }, []>(
      `SELECT owner, day, outcome, sum(live) AS live, sum(counted) AS counted FROM
         (SELECT owner, day, outcome, 1 AS live, 0 AS counted FROM (${OUTCOMES} UNION ALL ${ANSWERED})
          UNION ALL SELECT owner, day, outcome, 0, count FROM (${COUNTED})) GROUP BY 1, 2, 3`,
    )
    .all()
  const gone = (tenant: string) => [...erased].reduce((sum, [key, n]) => sum + (key.startsWith(`${tenant} `) ? n : 0), 0)
  const wrong = sums.filter(
    ({ owner, live, counted }) => counted < live || counted > live + gone(owner.slice(0, owner.indexOf(' '))),
  )
  const violations = wrong.map(
    ({ owner, day, outcome, live, counted }) => `${outcome} of ${owner} ${day}: ${counted} counted, ${live} live`,
  )
  return { name: 'I12', what: 'outcomes by day are those of the sessions', violations, counts: { outcome_days: sums.length } }
}

export function checkPairing(sqlite: Database): Checked {
  const violations = violationsOf(sqlite, {
    'a device with two pairing codes':
      "SELECT device_id FROM device_tokens WHERE kind = 'pairing' GROUP BY device_id HAVING count(*) > 1",
    'a code and its device disagree on whether it was used': `SELECT device_id FROM device_tokens JOIN devices ON id = device_id
       WHERE kind = 'pairing' AND (spent_at IS NOT enrolled_at OR (status = 'pending') <> (spent_at IS NULL AND devices.revoked_at IS NULL))`,
    'a device was enrolled twice':
      "SELECT 'record ' || max(seq) FROM audit_records WHERE action = 'device.enrolled' GROUP BY subject HAVING count(*) > 1",
    'enrolled devices and records of it differ in number': `SELECT devices || ' and ' || records FROM (SELECT
       (SELECT count(*) FROM devices WHERE enrolled_at IS NOT NULL) AS devices,
       (SELECT count(*) FROM audit_records WHERE action = 'device.enrolled') AS records) WHERE devices <> records`,
  })
  return {
    name: 'I3',
    what: 'each pairing code was used at most once',
    violations,
    counts: { devices: countOf(sqlite, 'devices') },
  }
}

export function checkOutbox(sqlite: Database): Checked {
  const violations = violationsOf(sqlite, {
    'two messages for one session': `SELECT ${short('verification_id')} FROM webhook_deliveries GROUP BY tenant_id, verification_id HAVING count(*) > 1`,
    'a message that is not about how its session ended': `SELECT d.id FROM webhook_deliveries AS d JOIN verification_sessions AS s ON s.id = d.verification_id
       WHERE d.type <> 'verification.' || s.status`,
    'an attempt that is not in the log': `SELECT id FROM webhook_deliveries AS d
       WHERE attempts > (SELECT count(DISTINCT attempt) FROM webhook_attempts WHERE delivery_id = d.id)`,
    'delivered, but no attempt says so': `SELECT id FROM webhook_deliveries AS d WHERE status = 'delivered'
       AND NOT EXISTS (SELECT 1 FROM webhook_attempts WHERE delivery_id = d.id AND outcome = 'delivered')`,
    'ended, but still leased': "SELECT id FROM webhook_deliveries WHERE status <> 'pending' AND lease_until IS NOT NULL",
    'failed without an attempt': "SELECT id FROM webhook_deliveries WHERE status = 'failed' AND attempts = 0",
  })
  const counts = { deliveries: countOf(sqlite, 'webhook_deliveries'), attempts: countOf(sqlite, 'webhook_attempts') }
  return { name: 'I4', what: 'a finished session owes at most one message, and every attempt is logged', violations, counts }
}

export function checkIdempotency(sqlite: Database): Checked {
  const violations = violationsOf(sqlite, {
    'one key made two sessions within its day': `SELECT ${short('id')} FROM (SELECT id, created_at,
       lag(created_at) OVER (PARTITION BY idempotency_hash ORDER BY created_at) AS before FROM verification_sessions
       WHERE idempotency_hash IS NOT NULL) WHERE created_at - before < ${REPLAY_MS - AHEAD_MS}`,
    'an answer is kept for a session that is not there': `SELECT substr(hash, 1, 8) FROM idempotency_keys AS k LEFT JOIN verification_sessions AS s
       ON s.idempotency_hash = k.hash AND s.tenant_id = k.tenant_id WHERE k.sealed IS NOT NULL AND s.id IS NULL`,
    'an answer without salt, or salt without answer':
      'SELECT substr(hash, 1, 8) FROM idempotency_keys WHERE (sealed IS NULL) <> (salt IS NULL)',
    'the answer of a live session is gone': `SELECT ${short('id')} FROM verification_sessions JOIN idempotency_keys ON hash = idempotency_hash
       WHERE idempotency_keys.sealed IS NULL AND abs(idempotency_keys.expires_at - created_at - ${REPLAY_MS}) < ${AHEAD_MS}`,
  })
  return {
    name: 'I6',
    what: 'an idempotency key made at most one session a day, whose answer is kept',
    violations,
    counts: { idempotency_keys: countOf(sqlite, 'idempotency_keys') },
  }
}

export function checkTokens(sqlite: Database): Checked {
  const live = "kind = 'refresh' AND spent_at IS NULL AND revoked_at IS NULL"
  const violations = violationsOf(sqlite, {
    'a device with two unspent refresh tokens': `SELECT device_id FROM device_tokens WHERE ${live} GROUP BY device_id HAVING count(*) > 1`,
    'a revoked device with a live token': `SELECT device_id FROM device_tokens AS t JOIN devices AS d ON d.id = t.device_id
       WHERE d.status = 'revoked' AND t.revoked_at IS NULL`,
    'a token was spent for nothing': `SELECT device_id FROM device_tokens AS t WHERE spent_at IS NOT NULL AND NOT EXISTS
       (SELECT 1 FROM device_tokens AS n WHERE n.device_id = t.device_id AND n.kind = 'refresh' AND n.generation = t.generation + 1)`,
    "a device's status and its times disagree": `SELECT id FROM devices WHERE (status = 'revoked') <> (revoked_at IS NOT NULL)
       OR (status = 'active' AND enrolled_at IS NULL) OR (status = 'pending' AND enrolled_at IS NOT NULL)`,
  })
  return {
    name: 'I7',
    what: 'at most one unspent refresh token per device',
    violations,
    counts: { device_tokens: countOf(sqlite, 'device_tokens') },
  }
}

export function checkResponseCodes(sqlite: Database): Checked {
  const violations = violationsOf(sqlite, {
    'redeemed without a code, before the answer, or too late': `SELECT ${short('id')} FROM verification_sessions WHERE redeemed_at IS NOT NULL
       AND (response_code_hash IS NULL OR responded_at IS NULL OR redeemed_at < responded_at - ${AHEAD_MS} OR redeemed_at >= response_code_expires_at)`,
    'a code without an answer, or without an end': `SELECT ${short('id')} FROM verification_sessions WHERE response_code_hash IS NOT NULL
       AND (responded_at IS NULL OR response_code_expires_at IS NULL)`,
    'one code of two sessions':
      'SELECT count(*) FROM verification_sessions WHERE response_code_hash IS NOT NULL GROUP BY response_code_hash HAVING count(*) > 1',
  })
  const counts = { redeemed: countOf(sqlite, 'verification_sessions WHERE redeemed_at IS NOT NULL') }
  return { name: 'I8', what: 'a response code was redeemed once, and in time', violations, counts }
}

export function checkStates(sqlite: Database): Checked {
  const isAnswered = "status IN ('completed', 'failed')"
  const isHeld = "status = 'pending' AND responded_at IS NOT NULL"
  const violations = violationsOf(sqlite, {
    "a session's status, answer and result disagree": `SELECT ${short('s.id')} FROM verification_sessions AS s
       LEFT JOIN verification_results AS r ON r.verification_id = s.id AND r.tenant_id = s.tenant_id
       WHERE (responded_at IS NOT NULL AND status = 'expired') OR (responded_at IS NULL AND status = 'completed')
         OR (${isAnswered} OR ${isHeld}) <> (r.verification_id IS NOT NULL)`,
    'held, but not to be': `SELECT ${short('id')} FROM verification_sessions WHERE ${isHeld} AND ((release IS NOT 'on_redeem' AND (device_id IS NULL OR response_code_hash IS NOT NULL)) OR redeemed_at IS NOT NULL)`,
    'a portrait of a device whose session is over': `SELECT ${short('s.id')} FROM verification_sessions AS s JOIN portraits AS p ON p.verification_id = s.id
       WHERE s.status <> 'pending' AND s.device_id IS NOT NULL`,
    'released without a redemption': `SELECT ${short('id')} FROM verification_sessions
       WHERE release = 'on_redeem' AND status = 'completed' AND redeemed_at IS NULL`,
    'a held session owes a message': `SELECT ${short('s.id')} FROM verification_sessions AS s JOIN webhook_deliveries AS d ON d.verification_id = s.id
       WHERE s.status = 'pending'`,
    'answered before it was created, or past its deadline': `SELECT ${short('id')} FROM verification_sessions
       WHERE responded_at < created_at OR responded_at >= expires_at`,
    'an ended session still has the key to its answer': `SELECT ${short('id')} FROM verification_sessions
       WHERE (status <> 'pending' OR responded_at IS NOT NULL) AND sealed_response_key IS NOT NULL`,
    'an ended session still has the keys of pages': `SELECT ${short('id')} FROM verification_sessions
       WHERE (status <> 'pending' OR responded_at IS NOT NULL) AND sealed_dc_requests IS NOT NULL`,
    'an ended session still has the keys for a phone': `SELECT ${short('id')} FROM verification_sessions
       WHERE (status <> 'pending' OR responded_at IS NOT NULL) AND sealed_in_person IS NOT NULL`,
    'a session without a lifetime': `SELECT ${short('id')} FROM verification_sessions WHERE expires_at <= created_at`,
  })
  const counts = { ended: countOf(sqlite, "verification_sessions WHERE status <> 'pending'") }
  return { name: 'I9', what: 'the states of sessions are consistent', violations, counts }
}

export function checkRemains(sqlite: Database): string[] {
  return violationsOf(sqlite, {
    'a result of no session': dangling('verification_results', 'verification_sessions', 'verification_id'),
    'a moment of no session': dangling('verification_events', 'verification_sessions', 'verification_id'),
    'a search term of no session': `SELECT ${short('verification_id')} FROM verification_terms AS t
       LEFT JOIN verification_sessions AS s ON s.id = t.verification_id AND s.tenant_id = t.tenant_id
       WHERE s.id IS NULL OR t.created_at <> s.created_at OR instr(s.terms, t.term) = 0`,
    'a message of no session': dangling('webhook_deliveries', 'verification_sessions', 'verification_id'),
    'an attempt of no message': dangling('webhook_attempts', 'webhook_deliveries', 'delivery_id'),
    'a session whose record was erased': `SELECT ${short('id')} FROM verification_sessions JOIN audit_records ON seq = audit_seq
       WHERE audit_records.salt IS NULL`,
  })
}
