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

type Options = {
  /** Claims the hosted page for this browser before anything is shown that a wallet can answer. */
  owns?: boolean
}

/** What the page shows, kept up to date until the session ends. As long as there is no id, nothing is known. */
export function useSession(id: string | undefined, { owns = false }: Options = {}): Session {
  const [session, setSession] = useState<Session>({ known: 'unknown', isConnected: true, aheadMs: 0 })
  useEffect(() => {
    if (id === undefined) return
    const change = (next: Partial<Session>) => setSession(before => ({ ...before, ...next }))
    let claim: Promise<unknown> | undefined
    const claimOnce = () => {
      claim ??= callApi(`v/${encodeURIComponent(id)}/owner`, { method: 'POST' }).catch(() => {
        claim = undefined
      })
      return claim
    }
    return watchStatus({
      id,
      read: async () => {
        // A page that is prerendered, or waits in the background, shows its code to nobody yet.
        if (owns && document.visibilityState === 'visible') await claimOnce()
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
