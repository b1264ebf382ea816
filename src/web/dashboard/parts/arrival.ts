import { useEffect } from 'preact/hooks'

/** The first view after loading leaves the focus to the browser. */
let isFirst = true

/** Focuses a view's element when the view opens. */
export function useArrival(place: () => HTMLElement | null): void {
  useEffect(() => {
    if (!isFirst) place()?.focus()
    isFirst = false
  }, [])
}
