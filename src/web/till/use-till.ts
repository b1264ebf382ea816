import { useEffect } from 'preact/hooks'
import type { Till } from '../../devices/schema.ts'
import { pause, persist } from './connection.ts'
import { keep, useKept } from './memory.ts'
import { callTill } from './tokens.ts'

const BEAT_MS = 30_000
/** A till that was revoked must not ask customers for long. */
const ASKING_BEAT_MS = 5000

/** The till's name and templates, polled, which also refreshes the tokens. */
export function useTill(): Till | undefined {
  const device = useKept('tokens')?.device
  const check = useKept('check')
  const isAsking = check !== undefined && check.shownAt === undefined && !check.isPutAway
  useEffect(() => {
    if (device === undefined) return
    const ended = new AbortController()
    follow(ended.signal, isAsking ? ASKING_BEAT_MS : BEAT_MS)
    return () => ended.abort()
  }, [device, isAsking])
  return useKept('till')
}

async function follow(signal: AbortSignal, beatMs: number): Promise<void> {
  while (!signal.aborted) {
    try {
      keep('till', await persist(() => callTill<Till>('till/data', { signal }), signal))
    } catch {
      // Aborted, or unpaired: then the tokens are gone and the loop ends.
    }
    await pause(beatMs, signal)
  }
}
