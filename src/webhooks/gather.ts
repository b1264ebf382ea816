/** Waits this long at most: far less than a receiver takes to answer over a network. */
const GATHER_MS = 2

type Gathering = {
  begin(): void
  /** Settles once half of what was under way has ended, or after a moment, for all that ended by then. */
  end(): Promise<void>
}

/**
 * Attempts that end at nearly the same time go on together, so that one commit records them and claims the next: a commit
 * costs more than what is in it.
 */
export function createGathering(): Gathering {
  const ended: (() => void)[] = []
  let underWay = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function goOn(): void {
    clearTimeout(timer)
    timer = undefined
    for (const resolve of ended.splice(0)) resolve()
  }

  return {
    begin() {
      underWay++
    },
    end() {
      underWay--
      return new Promise(resolve => {
        if (ended.push(resolve) >= underWay) goOn()
        else timer ??= setTimeout(goOn, GATHER_MS)
      })
    },
  }
}
