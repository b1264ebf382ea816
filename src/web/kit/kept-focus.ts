import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/** Focuses the heading when the focused element is removed, so that Tab continues there. */
export function useKeptFocus(area: RefObject<HTMLElement | null>, heading: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = area.current
    if (!element) return
    let last: EventTarget | null = null
    const remember = ({ target }: Event) => {
      last = target
    }
    // Left on purpose: not to be restored. A button disabled during its call loses it too.
    const forget = ({ target }: Event) =>
      queueMicrotask(() => {
        if (target instanceof Element && target.isConnected && !target.matches(':disabled') && last === target) last = null
      })
    const isLost = () => last instanceof Element && !last.isConnected && document.activeElement === document.body
    const catchIt = () => isLost() && heading.current?.focus({ preventScroll: true })
    // Waits for a frame: the remover may choose a better place, such as the row of a closed panel.
    const observer = new MutationObserver(() => void (isLost() && requestAnimationFrame(catchIt)))
    element.addEventListener('focusin', remember)
    element.addEventListener('focusout', forget)
    observer.observe(element, { childList: true, subtree: true })
    return () => {
      element.removeEventListener('focusin', remember)
      element.removeEventListener('focusout', forget)
      observer.disconnect()
    }
  }, [])
}
