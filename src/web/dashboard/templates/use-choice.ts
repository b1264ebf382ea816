import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { BuiltQuery, Choice } from '../../../dashboard/templates/schema.ts'
import { usePlace, useSession } from '../session.tsx'
import type { QueryCheck } from './query-check.ts'

type Built = {
  /** Undefined while it is unknown, and while only the JSON can be edited. */
  choice: Choice | undefined
  /** The query is wrong, or beyond the builder. */
  isJsonOnly: boolean
  /** The builder made the text. */
  isBuilt: boolean
  leftOut: BuiltQuery['left_out']
  /** The query of the latest choice is not there yet. */
  isBuilding: boolean
  choose: (choice: Choice) => void
  problem: unknown
}

/** Keeps the ticks of the builder and the JSON in step: the service makes each from the other. */
export function useChoice(check: QueryCheck, text: string, setText: (text: string) => void): Built {
  const { call } = useSession()
  const { inTenant } = usePlace()
  const [choice, setChoice] = useState<Choice>()
  const [leftOut, setLeftOut] = useState<BuiltQuery['left_out']>([])
  const [isBuilding, setIsBuilding] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const building = useRef<AbortController | undefined>(undefined)
  const built = useRef<string | undefined>(undefined)
  // A layout effect: before a later one another query may be built, whose ticks would be lost.
  useLayoutEffect(() => {
    // Not for an older text, nor for the builder's own, which may leave a chosen document out.
    if (check.state !== 'good' || check.text !== text || text === built.current || building.current) return
    built.current = undefined
    setChoice(check.choice ?? undefined)
    if (!check.choice) setLeftOut([])
  }, [check])
  const choose = async (next: Choice) => {
    building.current?.abort()
    const current = new AbortController()
    building.current = current
    setChoice(next)
    setProblem(undefined)
    setIsBuilding(true)
    try {
      const { query, left_out } = await call<BuiltQuery>(inTenant('template-build'), {
        method: 'POST',
        body: next,
        signal: current.signal,
      })
      if (current.signal.aborted) return
      building.current = undefined
      setIsBuilding(false)
      setLeftOut(left_out)
      built.current = JSON.stringify(query ?? { credentials: [] }, null, 2)
      setText(built.current)
    } catch (error) {
      if (current.signal.aborted) return
      building.current = undefined
      setIsBuilding(false)
      setProblem(error)
    }
  }
  const isBuilt = text === built.current
  const isWrong = check.state === 'bad' && check.reason !== undefined && !isBuilt
  const isBeyond = check.state === 'good' && check.choice === null && !isBuilt
  const isJsonOnly = isWrong || isBeyond
  return {
    choice: isJsonOnly ? undefined : choice,
    isJsonOnly,
    isBuilt,
    leftOut,
    isBuilding,
    choose: next => void choose(next),
    problem,
  }
}
