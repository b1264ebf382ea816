import { useEffect, useState } from 'preact/hooks'
import type { DemoSession } from '../../demo/schema.ts'
import { ApiFailure, callApi } from '../shared/api.ts'

const LOOK_MS = 400

/** The back office's view of a session, polled until it has ended and its webhook has arrived. */
export function useSession(id: string | undefined): DemoSession | undefined {
  const [session, setSession] = useState<DemoSession>()
  useEffect(() => {
    if (id === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const look = async () => {
      try {
        const found = await callApi<DemoSession>(`demo/sessions/${id}`)
        if (isOver) return
        setSession(found)
        if (!hasEnded(found)) timer = setTimeout(look, LOOK_MS)
      } catch (error) {
        // Stop after 404: the session was erased.
        if (!isOver && !(error instanceof ApiFailure && error.status === 404)) timer = setTimeout(look, LOOK_MS)
      }
    }
    look()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [id])
  return session?.verification.id === id ? session : undefined
}

const hasEnded = ({ verification: { status }, webhook }: DemoSession): boolean =>
  status === 'expired' || (status !== 'pending' && webhook !== undefined)
