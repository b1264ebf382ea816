import { useEffect, useRef, useState } from 'preact/hooks'
import { useSession } from './session.tsx'

type Draft = { of: string; address: string; work: object }

/** The work of a form whose session ended. In memory: it ends with the tab. */
let kept: Draft | undefined

export const forgetDraft = (): void => {
  kept = undefined
}

/** The state of a form, which is there again when the same user logs in at the same address. */
export function useDraft<Work extends object>(first: () => Work) {
  const { id } = useSession().session.user
  const [isKept] = useState(() => kept?.of === id && kept.address === location.href)
  const [opened] = useState(() => (isKept ? (kept?.work as Work) : first()))
  const [work, setWork] = useState(opened)
  const current = useRef(work)
  current.current = work
  useEffect(() => {
    const address = location.href
    forgetDraft()
    return () => {
      const isUnsaved = isKept || current.current !== opened
      // Whoever leaves the form has left its address before.
      if (isUnsaved && location.href === address) kept = { of: id, address, work: current.current }
    }
  }, [])
  return { work, change: (change: Partial<Work>) => setWork(before => ({ ...before, ...change })), isKept }
}
