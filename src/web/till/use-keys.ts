import { useLayoutEffect, useRef } from 'preact/hooks'

/** Keyboard shortcuts, unless the focused element uses the key itself. */
export function useKeys(acts: Readonly<Record<string, () => void>>): void {
  const current = useRef(acts)
  current.current = acts
  // Runs before the page is drawn: a key may be pressed at once.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target instanceof Element && event.target.closest('input, dialog')) return
      // The browser itself activates buttons and links.
      if (event.key === 'Enter' && event.target instanceof Element && event.target.closest('button, a')) return
      const act = current.current[event.key]
      if (!act) return
      // The browser would otherwise close with the same Escape what the act opens.
      event.preventDefault()
      act()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}
