import { useEffect, useRef, useState } from 'preact/hooks'
import { usePlace, useSession } from '../session.tsx'

type Draft = { of: string; address: string; work: object }

/** The work of a form whose session ended. In memory: it ends with the tab. */
let kept: Draft | undefined

export const forgetDraft = (): void => {
  kept = undefined
}

/** The state of a form of one shop, which is there again when the same user logs in at the same address. */
export function useDraft<Work extends object>(first: () => Work) {
  const { user } = useSession().session
  // An address without a shop is that of the user's first one, which may be another after the log-in.
  const owner = `${user.id} ${usePlace().tenant.id}`
  const [isKept] = useState(() => kept?.of === owner && kept.address === location.href)
  const [opened] = useState(() => (isKept ? (kept?.work as Work) : first()))
  const [work, setWork] = useState(opened)
  const current = useRef(work)
  current.current = work
  useEffect(() => {
    const address = location.href
    forgetDraft()
    return () => {
      const isUnsaved = isKept || current.current !== opened
      // Another address: the user has left the form.
      if (isUnsaved && location.href === address) kept = { of: owner, address, work: current.current }
    }
  }, [])
  return { work, change: (change: Partial<Work>) => setWork(before => ({ ...before, ...change })), isKept }
}
