const SAMPLE_MS = 100
/** A person notices this delay. Status polls are refused first, because they are repeated anyway. */
const LAG_MAX_MS = 250

type LoadWatch = { isOverloaded(): boolean; stop(): void }

/** Measures the lag of the event loop: requests wait as long as this timer is late. */
export function watchLoad(monotonic: () => number, onSample: (lagMs: number) => void = () => {}): LoadWatch {
  let dueAt = monotonic() + SAMPLE_MS
  let lagMs = 0
  let lagBeforeMs = 0
  const timer = setInterval(() => {
    const at = monotonic()
    lagBeforeMs = lagMs
    lagMs = at - dueAt
    dueAt = at + SAMPLE_MS
    onSample(Math.max(0, lagMs))
  }, SAMPLE_MS)
  timer.unref()
  return {
    // Two delays in a row: a single one is a first use of code or a pause of the machine. The delay of the sample that is due
    // counts, because a blocked loop takes none.
    isOverloaded: () => {
      const dueMs = monotonic() - dueAt
      return dueMs > LAG_MAX_MS ? lagMs > LAG_MAX_MS : Math.min(lagMs, lagBeforeMs) > LAG_MAX_MS
    },
    stop: () => clearInterval(timer),
  }
}
