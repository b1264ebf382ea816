import { useEffect, useState } from 'preact/hooks'
import type { HostedVerification } from '../../verifications/schema.ts'
import { callApi } from '../shared/api.ts'
import { watchStatus } from '../shared/live.ts'

export type Session = {
  /** Nothing yet, nothing there, or what is known. */
  known: 'unknown' | 'gone' | HostedVerification
  isConnected: boolean
  /** By how much the server's clock is ahead of this one. */
  aheadMs: number
}

/** What the page shows, kept up to date until the session ends. As long as there is no id, nothing is known. */
export function useSession(id: string | undefined): Session {
  const [session, setSession] = useState<Session>({ known: 'unknown', isConnected: true, aheadMs: 0 })
  useEffect(() => {
    if (id === undefined) return
    const change = (next: Partial<Session>) => setSession(before => ({ ...before, ...next }))
    return watchStatus({
      id,
      read: async () => {
        const known = await callApi<HostedVerification>(`v/${encodeURIComponent(id)}/data`)
        const aheadMs = Date.parse(known.now) - Date.now()
        // Of two answers under way the older may come last.
        setSession(before => (hasEnded(before) ? before : { ...before, known, aheadMs }))
        return known.status
      },
      onConnection: isConnected => change({ isConnected }),
      onGone: () => change({ known: 'gone', isConnected: true }),
    })
  }, [id])
  return session
}

const hasEnded = ({ known }: Session): boolean => typeof known === 'object' && known.status !== 'pending'
