// The state of a till, in localStorage: it survives a reload and a crash, and all tabs share it.
// The tokens too: this page could not rotate a cookie or repeat it after a lost response, and its
// policy keeps foreign scripts out. Never claims.
import { useMemo } from 'preact/hooks'
import type { Till } from '../../devices/schema.ts'
import { BASE } from '../shared/base.ts'
import { useFollowed } from '../shared/followed.ts'

export type Tokens = {
  device: string
  access: string
  refresh: string
  /** Time of this device's clock. */
  refreshAt: number
  /** The Idempotency-Key of the next refresh, stored so that every tab sends the same. */
  refreshKey: string
}

export type Pairing = { code: string; key: string }

export type Check = {
  /** The Idempotency-Key of its creation. */
  key: string
  template: string
  /** Undefined until the service has created the session. */
  id?: string
  /** When the cashier first saw the verdict; by this device's clock. */
  shownAt?: number
  /** Whether the customer is the person on the photo, and when the cashier said so; by this device's clock. */
  decision?: { isSame: boolean; at: number } | undefined
  /** The verdict was shown long enough, but not dismissed. */
  isPutAway?: true
  /** The verdict was put away, and is shown again. */
  isRestored?: true
  /** A cancellation is under way. */
  isStopping?: true
  /** The wallet answered before the cancellation. */
  isAnsweredFirst?: true
}

export type TillMemory = {
  tokens: Tokens
  pairing: Pairing
  check: Check
  /** The last known description: the page opens without the service too. */
  till: Till
  /** The till was paired once, and is not any more. */
  isUnpaired: true
  hasSound: true
  theme: 'light'
  /** Until then phones get small chunks by Bluetooth; by this device's clock. */
  smallChunksUntil: number
  lease: { owner: string; until: number }
}

const PREFIX = `vidimus-till ${BASE.pathname} `
const CHANGED = new EventTarget()
/** Used where the browser forbids storage; lost with the page. */
const instead = new Map<string, string>()

export const read = <Name extends keyof TillMemory>(name: Name): TillMemory[Name] | undefined => parsed(textOf(name))

export function keep<Name extends keyof TillMemory>(name: Name, value: TillMemory[Name] | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    if (value === undefined) instead.delete(name)
    else instead.set(name, JSON.stringify(value))
  }
  CHANGED.dispatchEvent(new Event(name))
}

/** A stored value, updated when any tab changes it. */
export function useKept<Name extends keyof TillMemory>(name: Name): TillMemory[Name] | undefined {
  const text = useFollowed(() => textOf(name), [CHANGED, name], [window, 'storage'])
  return useMemo(() => parsed<TillMemory[Name]>(text), [text])
}

function textOf(name: keyof TillMemory): string | null {
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
    // Not ours, or cut off.
    return undefined
  }
}
