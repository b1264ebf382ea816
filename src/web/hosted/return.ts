import { useEffect, useState } from 'preact/hooks'
import type { HostedVerification, PageReturn } from '../../verifications/schema.ts'
import { callApi } from '../shared/api.ts'

const LEAVE_MS = 2000
const RETRY_MS = 2000

export type WayBack = { href: string | undefined; isLeaving: boolean; stay: () => void }

/**
 * The way back to the shop. Where the page returns the response code, it asks for one and leaves by
 * itself. A hidden page waits: of two tabs only the visible one may ask, because a second code
 * invalidates the first.
 */
export function useWayBack(known: HostedVerification | undefined, redirectUri: string | undefined): WayBack {
  const { id = '', return_url, returns } = known ?? {}
  const [given, setGiven] = useState<string>()
  const [isStaying, setIsStaying] = useState(false)
  // An answer of this very page came with its code.
  const coded = redirectUri ?? given
  const isLeaving = coded !== undefined && coded !== return_url && isWeb(coded) && !isStaying
  useEffect(() => (returns ? whenSeen(() => askForCode(id, setGiven)) : undefined), [id, returns])
  useEffect(() => {
    if (!isLeaving) return
    // Replaces this page: "back" in the shop must not lead here and from here to the shop again.
    const timer = setTimeout(() => location.replace(coded), LEAVE_MS)
    return () => clearTimeout(timer)
  }, [isLeaving, coded])
  return { href: returns ? coded : (redirectUri ?? return_url), isLeaving, stay: () => setIsStaying(true) }
}

/** Browsers open an app from a tap only. */
const isWeb = (url: string): boolean => /^https?:/.test(url)

type Stop = () => void

function whenSeen(act: () => Stop): Stop {
  let stop: Stop | undefined
  const look = () => {
    if (document.visibilityState === 'visible') stop ??= act()
  }
  document.addEventListener('visibilitychange', look)
  look()
  return () => {
    document.removeEventListener('visibilitychange', look)
    stop?.()
  }
}

function askForCode(id: string, onCode: (url: string | undefined) => void): Stop {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  const ask = async () => {
    try {
      const { return_url } = await callApi<PageReturn>(`v/${encodeURIComponent(id)}/return`, { method: 'POST' })
      if (!isOver) onCode(return_url)
    } catch {
      if (!isOver) timer = setTimeout(ask, RETRY_MS)
    }
  }
  ask()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
