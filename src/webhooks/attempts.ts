import type { Engine } from '../db/engine.ts'

/** Attempts under way in this process. An erasure cancels them and waits for their end. */
export type Attempts = {
  /** Runs `work` with a signal that aborts when the verification is erased. */
  run(verificationId: string, work: (signal: AbortSignal) => Promise<void>): void
  /**
   * Settles when no attempt for these verifications is under way any more. Every node is notified;
   * with several of them, this is where their acknowledgements are awaited.
   */
  cancel(verificationIds: readonly string[]): Promise<void>
  /** The worker's answer to a `cancel` notice. */
  abort(verificationIds: readonly string[]): void
  allEnded(): Promise<void>
}

type UnderWay = { verificationId: string; abort(): void; ended: Promise<void> }

export function createAttempts({ publish }: Pick<Engine, 'publish'>): Attempts {
  const underWay = new Set<UnderWay>()
  const ofThese = (ids: readonly string[]) => {
    const wanted = new Set(ids)
    return [...underWay].filter(({ verificationId }) => wanted.has(verificationId))
  }
  const end = async (attempts: Iterable<UnderWay>) => {
    await Promise.all([...attempts].map(({ ended }) => ended))
  }
  return {
    run(verificationId, work) {
      const controller = new AbortController()
      const ended = work(controller.signal).finally(() => underWay.delete(attempt))
      const attempt = { verificationId, abort: () => controller.abort(), ended }
      underWay.add(attempt)
    },
    async cancel(ids) {
      publish('cancel', ids.join(' '))
      await end(ofThese(ids))
    },
    abort(ids) {
      for (const { abort } of ofThese(ids)) abort()
    },
    allEnded: () => end(underWay),
  }
}
