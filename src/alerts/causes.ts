// What owners must know of, out of what the checks of doctor find. Set-up that is not done yet is no alert.
import { sha256Hex } from '../base/hash.ts'
import type { CheckName } from '../doctor/check.ts'
import { examine, type Found } from '../doctor/examine.ts'
import type { Deps } from './deps.ts'

/** Findings that raise an alert. A name is the value that lists what they are about: each entry is a cause of its own. */
const ALARMING = {
  tls_ended: '',
  tls_ending: '',
  signing_ended: 'owner',
  signing_ending: 'owner',
  registrations_ended: 'certificates',
  registrations_ending: 'certificates',
  no_issuer: '',
  issuers_missing: '',
  issuers_ending: 'issuers',
  lists_troubled: 'troubles',
  status_lists_ended: 'lists',
  status_lists_old: 'lists',
  webhooks_failing: 'origins',
  extra_ca_ending: 'authorities',
  wrapping_key_missing: '',
  wrapping_key_closed: '',
  wrapping_key_old: '',
  disk_low: '',
  disk_full: '',
  server_full: '',
  backup_failed: '',
  backup_old: '',
  archive_failing: '',
  archive_old: '',
} as const satisfies Partial<Record<Found['code'], string>>

export const ALARMS = Object.keys(ALARMING) as (keyof typeof ALARMING)[]

const WATCHED: readonly CheckName[] = [
  'tls',
  'signing_certificate',
  'registration',
  'trust_anchors',
  'trust_lists',
  'status_lists',
  'webhooks',
  'extra_ca',
  'wrapping_keys',
  'disk',
  'backups',
]

/** Checks that gave no answer: what they found before still holds. */
const UNANSWERED: readonly string[] = ['check_slow', 'check_failed', 'right_lacking']

export type Cause = { cause: string; checkName: CheckName; finding: Found }

export async function findCauses(deps: Deps): Promise<{ answered: CheckName[]; causes: Cause[] }> {
  // The check of a file reads all of it.
  const names: readonly CheckName[] = deps.config.database ? [...WATCHED, 'database'] : WATCHED
  const checks = (await examine(deps, true, names, false)).filter(({ code }) => !UNANSWERED.includes(code))
  return {
    answered: checks.map(({ name }) => name),
    causes: checks.flatMap(({ name, ...finding }) => causesOf(finding).map(cause => ({ ...cause, checkName: name }))),
  }
}

type Named = { list?: string; code?: string; host?: string; name?: string }

function causesOf(finding: Found): { cause: string; finding: Found }[] {
  const { code, values } = finding
  const field = ALARMING[code as keyof typeof ALARMING]
  if (field === undefined) return []
  const about = (values as Record<string, unknown>)[field]
  const entries = Array.isArray(about) ? about : [about ?? '']
  return entries.map((entry: string | Named) => ({
    cause: entry === '' ? code : `${code} ${sha256Hex(nameOf(entry)).slice(0, 16)}`,
    finding: Array.isArray(about) ? ({ ...finding, values: { ...values, [field]: [entry] } } as Found) : finding,
  }))
}

const nameOf = (entry: string | Named): string =>
  typeof entry === 'string' ? entry : [entry.list, entry.code, entry.host, entry.name].join('\n')
