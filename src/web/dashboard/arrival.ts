import { useEffect } from 'preact/hooks'

/** The first view after loading leaves the focus to the browser; every further one says where one is now. */
let isFirst = true

/** The focus goes to what a view names, when one comes to it. */
export function useArrival(place: () => HTMLElement | null): void {
  useEffect(() => {
    if (!isFirst) place()?.focus()
    isFirst = false
  }, [])
}
