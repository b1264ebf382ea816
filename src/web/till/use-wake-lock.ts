import { useEffect } from 'preact/hooks'

/** Keeps the screen on while the page is seen, where the browser can. */
export function useWakeLock(): void {
  useEffect(() => {
    const wakeLock: WakeLock | undefined = navigator.wakeLock
    if (!wakeLock) return
    // Given back by the browser whenever the page is hidden; refused on an empty battery, which is nobody's fault.
    const ask = () => {
      if (document.visibilityState === 'visible') wakeLock.request('screen').catch(() => {})
    }
    ask()
    document.addEventListener('visibilitychange', ask)
    return () => document.removeEventListener('visibilitychange', ask)
  }, [])
}
