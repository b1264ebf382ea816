import { useEffect, useRef, useState } from 'preact/hooks'
import { useRows } from './rows.ts'
import { useSession } from './session.tsx'

/** A filter may leave pages empty: at most so many are fetched per click. */
const EMPTY_PAGES_MAX = 10

type Page<Row> = { data: Row[]; next_before: string | number | null }

export type Pages<Row> = {
  rows: readonly Row[] | undefined
  problem: unknown
  isBusy: boolean
  hasMore: boolean
  more: () => void
  reload: () => void
  /** The first page as it is now. */
  look: () => Promise<readonly Row[]>
  change: (change: (rows: readonly Row[]) => readonly Row[]) => void
}

type PagedState<Row> = { path: string; rows?: readonly Row[]; next: string | number | null; problem?: unknown; isBusy: boolean }

/** A long list, newest first, that grows at its end. */
export function usePages<Row>(list: string): Pages<Row> {
  const { call } = useSession()
  const path = `${list}&limit=${useRows()}`
  const [kept, setKept] = useState<PagedState<Row>>({ path, next: null, isBusy: true })
  const [round, setRound] = useState(0)
  const leaving = useRef(new AbortController())

  const load = async (before: readonly Row[], from: string | number | null) => {
    const { signal } = leaving.current
    const rows = [...before]
    let next = from
    try {
      for (let i = 0; i < EMPTY_PAGES_MAX; i++) {
        const page = await call<Page<Row>>(next === null ? path : `${path}&before=${encodeURIComponent(next)}`, { signal })
        rows.push(...page.data)
        next = page.next_before
        if (page.data.length > 0 || next === null) break
      }
      if (!signal.aborted) setKept({ path, rows, next, isBusy: false })
    } catch (problem) {
      if (!signal.aborted) setKept({ path, rows: before.length > 0 ? before : undefined, next, problem, isBusy: false })
    }
  }

  useEffect(() => {
    leaving.current = new AbortController()
    setKept(known => ({ ...known, path, isBusy: true, problem: undefined }))
    void load([], null)
    return () => leaving.current.abort()
  }, [path, round])

  return {
    rows: kept.rows,
    problem: kept.problem,
    isBusy: kept.isBusy || kept.path !== path,
    hasMore: kept.next !== null,
    more: () => {
      if (kept.isBusy) return
      setKept({ ...kept, isBusy: true })
      void load(kept.rows ?? [], kept.next)
    },
    look: async () => (await call<Page<Row>>(path, { signal: leaving.current.signal })).data,
    reload: () => setRound(known => known + 1),
    change: change => setKept(known => ({ ...known, rows: known.rows && change(known.rows) })),
  }
}
