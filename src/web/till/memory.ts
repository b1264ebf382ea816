// What a till must not lose. It is kept in localStorage, because it has to outlast a reload, a crash and a night, and because all tabs of a till
// share it. That goes for the tokens too: a cookie could neither be rotated by this page nor be repeated after a lost answer, and what could
// read them here, a foreign script, the page's policy keeps out. Claims are never kept.
import { useMemo } from 'preact/hooks'
import type { Till } from '../../devices/schema.ts'
import { BASE } from '../shared/base.ts'
import { useFollowed } from '../shared/followed.ts'

export type Tokens = {
  device: string
  access: string
  refresh: string
  /** By this clock. */
  refreshAt: number
  /** Chosen with the pair, so that it is kept before it is sent, and is the same for every tab that sends this refresh token. */
  refreshKey: string
}

/** A code that was sent, or is about to be. */
export type Pairing = { code: string; key: string }

export type Check = {
  /** The Idempotency-Key of its creation. */
  key: string
  template: string
  /** Once the service has said it. */
  id?: string
  /** The verdict was shown long enough, and nobody has said that it was seen. */
  isPutAway?: true
  /** The service is being asked to cancel it. */
  isStopping?: true
  /** The answer was faster than that. */
  isAnsweredFirst?: true
}

export type Kept = {
  tokens: Tokens
  pairing: Pairing
  check: Check
  /** As the service described it last: the page opens without it too. */
  till: Till
  /** It was paired once, and is not any more. */
  isUnpaired: true
  hasSound: true
  theme: 'light'
  lease: { owner: string; until: number }
}

const PREFIX = `vidimus-till ${BASE.pathname} `
const CHANGED = new EventTarget()
/** Where a browser forbids storage: then the till lasts as long as its page. */
const instead = new Map<string, string>()

export const read = <Name extends keyof Kept>(name: Name): Kept[Name] | undefined => parsed(textOf(name))

export function keep<Name extends keyof Kept>(name: Name, value: Kept[Name] | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    if (value === undefined) instead.delete(name)
    else instead.set(name, JSON.stringify(value))
  }
  CHANGED.dispatchEvent(new Event(name))
}

/** What is kept under a name, whichever tab changes it. */
export function useKept<Name extends keyof Kept>(name: Name): Kept[Name] | undefined {
  const text = useFollowed(() => textOf(name), [CHANGED, name], [window, 'storage'])
  return useMemo(() => parsed<Kept[Name]>(text), [text])
}

function textOf(name: keyof Kept): string | null {
  try {
    return localStorage.getItem(PREFIX + name) ?? instead.get(name) ?? null
  } catch {
    return instead.get(name) ?? null
  }
}

function parsed<Value>(text: string | null): Value | undefined {
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    // Somebody else's, or cut off: as good as nothing.
    return undefined
  }
}
