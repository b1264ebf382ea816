/** The longest wait: far less than a receiver takes to answer over a network. */
const GATHER_MS = 2

type Gathering = {
  begin(): void
  /** Settles for all ended attempts at once: when half of those under way have ended, or after GATHER_MS. */
  end(): Promise<void>
}

/** Gathers attempts that end at nearly the same time, so that one commit records them and claims the next ones. */
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
