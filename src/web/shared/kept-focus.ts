import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/** When what has the focus is taken away and nothing else takes it, the heading does: it says where one is, and Tab goes on from there. */
export function useKeptFocus(area: RefObject<HTMLElement | null>, heading: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = area.current
    if (!element) return
    let last: EventTarget | null = null
    const remember = ({ target }: Event) => {
      last = target
    }
    // Left on purpose: then nobody wants it back. A button that is disabled while its call is under way loses it, too.
    const forget = ({ target }: Event) =>
      queueMicrotask(() => {
        if (target instanceof Element && target.isConnected && !target.matches(':disabled') && last === target) last = null
      })
    const isLost = () => last instanceof Element && !last.isConnected && document.activeElement === document.body
    const catchIt = () => isLost() && heading.current?.focus({ preventScroll: true })
    // After a frame: whoever takes something away may know a better place, as the row that it was opened from.
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
