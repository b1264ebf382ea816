/** The longest wait: far less than a receiver takes to answer over a network. */
const GATHER_MS = 2

type Gathering = {
  begin(): void
  /** Settles for all ended attempts at once: when they are half of those not recorded yet, or after GATHER_MS. */
  end(): Promise<void>
  recorded(): void
}

/**
 * Gathers attempts that end at nearly the same time, so that one commit records them and claims the next ones. One half is
 * sent while the other is recorded.
 */
export function createGathering(): Gathering {
  const ended: (() => void)[] = []
  let unrecorded = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const isHalf = () => ended.length * 2 >= unrecorded

  function goOn(): void {
    clearTimeout(timer)
    timer = undefined
    for (const resolve of ended.splice(0)) resolve()
  }

  return {
    begin() {
      unrecorded++
    },
    end() {
      return new Promise(resolve => {
        ended.push(resolve)
        if (isHalf()) goOn()
        else timer ??= setTimeout(goOn, GATHER_MS)
      })
    },
    recorded() {
      unrecorded--
      if (isHalf()) goOn()
    },
  }
}
