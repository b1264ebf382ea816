import { isoUtc } from '../time.ts'

/** In the order they are shown: what a wallet meets first, then what an operator looks after. */
export const CHECKS = [
  'server',
  'public_url',
  'tls',
  'client_id',
  'signing_certificate',
  'trust_anchors',
  'status_lists',
  'webhooks',
  'extra_ca',
  'clock',
  'database',
  'master_key',
  'disk',
  'backups',
  'open_files',
] as const

export type CheckName = (typeof CHECKS)[number]

/** What was found, in one sentence, and what to do about it. Neither holds anything personal or secret. */
export type Found = { status: 'ok' | 'warning' | 'problem'; detail: string; remedy?: string }

export type Check = { name: CheckName } & Found

export const ok = (detail: string): Found => ({ status: 'ok', detail })

export const warning = (detail: string, remedy: string): Found => ({ status: 'warning', detail, remedy })

export const problem = (detail: string, remedy: string): Found => ({ status: 'problem', detail, remedy })

/** An instant, to the second: nobody reads further. */
export const secondOf = (ms: number): string => isoUtc(ms).replace(/\.\d+Z$/, 'Z')

/** As much of a list as anybody reads. */
export function someOf(names: string[], countMax = 5): string {
  const more = names.length - countMax
  return more > 0 ? `${names.slice(0, countMax).join(', ')} and ${more} more` : names.join(', ')
}
