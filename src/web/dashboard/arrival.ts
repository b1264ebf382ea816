import { useEffect } from 'preact/hooks'

/** After loading, the first view leaves the focus to the browser. */
let isFirst = true

/** Focuses a view's element when the view opens. */
export function useArrival(place: () => HTMLElement | null): void {
  useEffect(() => {
    if (!isFirst) place()?.focus()
    isFirst = false
  }, [])
}
