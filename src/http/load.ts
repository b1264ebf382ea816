const SAMPLE_MS = 100
/** From here on a person would notice; status polls are refused first, because they come again by themselves. */
const LAG_MAX_MS = 250

export type LoadWatch = { isOverloaded(): boolean; stop(): void }

/** How late the event loop is: a timer that comes much too late means that requests wait as long. */
export function watchLoad(monotonic: () => number, onSample: (lagMs: number) => void = () => {}): LoadWatch {
  let dueAt = monotonic() + SAMPLE_MS
  let lagMs = 0
  const timer = setInterval(() => {
    const at = monotonic()
    lagMs = at - dueAt
    dueAt = at + SAMPLE_MS
    onSample(Math.max(0, lagMs))
  }, SAMPLE_MS)
  timer.unref()
  return {
    // Also between two samples: a loop that stands still takes none.
    isOverloaded: () => Math.max(lagMs, monotonic() - dueAt) > LAG_MAX_MS,
    stop: () => clearInterval(timer),
  }
}
