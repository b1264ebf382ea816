import { useLayoutEffect, useRef } from 'preact/hooks'

/** Acts by key, where the focus is on nothing that has a use for it. */
export function useKeys(acts: Readonly<Record<string, () => void>>): void {
  const current = useRef(acts)
  current.current = acts
  // Before it is drawn: whoever sees the page may press at once.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target instanceof Element && event.target.closest('input, dialog')) return
      // The browser presses a button or follows a link by itself.
      if (event.key === 'Enter' && event.target instanceof Element && event.target.closest('button, a')) return
      current.current[event.key]?.()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}
