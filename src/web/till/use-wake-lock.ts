import { useEffect } from 'preact/hooks'

/** Keeps the screen on while the page is visible, where the browser supports it. */
export function useWakeLock(): void {
  useEffect(() => {
    const wakeLock: WakeLock | undefined = navigator.wakeLock
    if (!wakeLock) return
    // The browser releases it when the page is hidden, and refuses it on a low battery.
    const ask = () => {
      if (document.visibilityState === 'visible') wakeLock.request('screen').catch(() => {})
    }
    ask()
    document.addEventListener('visibilitychange', ask)
    return () => document.removeEventListener('visibilitychange', ask)
  }, [])
}
