import { useEffect, useRef, useState } from 'preact/hooks'
import { Cancelled } from './client.ts'

export type Action<Arguments extends unknown[]> = {
  run: (...args: Arguments) => void
  /** The handler of a form whose action takes no arguments. */
  submit: (event: Event) => void
  isBusy: boolean
  problem: unknown
  clear: () => void
}

/** A call started by a click: one at a time, with its error. */
export function useAction<Arguments extends unknown[]>(act: (...args: Arguments) => Promise<unknown>): Action<Arguments> {
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const isThere = useRef(true)
  const isRunning = useRef(false)
  useEffect(
    () => () => {
      isThere.current = false
    },
    [],
  )
  const start = async (...args: Arguments) => {
    if (isRunning.current) return
    isRunning.current = true
    setIsBusy(true)
    setProblem(undefined)
    try {
      await act(...args)
    } catch (error) {
      if (isThere.current && !(error instanceof Cancelled)) setProblem(error)
    } finally {
      isRunning.current = false
      if (isThere.current) setIsBusy(false)
    }
  }
  return {
    run: (...args) => void start(...args),
    submit: event => {
      event.preventDefault()
      void start(...([] as unknown[] as Arguments))
    },
    isBusy,
    problem,
    clear: () => setProblem(undefined),
  }
}
