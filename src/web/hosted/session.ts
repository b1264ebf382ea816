import { useEffect, useState } from 'preact/hooks'
import type { HostedVerification } from '../../verifications/schema.ts'
import { callApi } from '../shared/api.ts'
import { useReadersLanguage } from '../shared/language.ts'
import { watchStatus } from '../shared/live.ts'

export type Session = {
  /** Not loaded, not found, or the session. */
  known: 'unknown' | 'gone' | HostedVerification
  isConnected: boolean
  /** The server's clock minus this one. */
  aheadMs: number
}

type Options = {
  /** Claims the hosted page for this browser before a code is shown. */
  owns?: boolean
}

/** The session, updated until it ends; `unknown` without an id. */
export function useSession(id: string | undefined, { owns = false }: Options = {}): Session {
  const [session, setSession] = useState<Session>({ known: 'unknown', isConnected: true, aheadMs: 0 })
  const language = useReadersLanguage()
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
        // Not while prerendered or in the background: nobody sees the code yet.
        if (owns && document.visibilityState === 'visible') await claimOnce()
        const known = await callApi<HostedVerification>(`v/${encodeURIComponent(id)}/data`, {
          // Chosen on this page: its links say it to the wallet.
          headers: { 'accept-language': language },
        })
        const aheadMs = Date.parse(known.now) - Date.now()
        // The older of two responses may arrive last.
        setSession(before => (hasEnded(before) ? before : { ...before, known, aheadMs }))
        return known.status
      },
      onConnection: isConnected => change({ isConnected }),
      onGone: () => change({ known: 'gone', isConnected: true }),
    })
  }, [id, language])
  return session
}

const hasEnded = ({ known }: Session): boolean => typeof known === 'object' && known.status !== 'pending'
