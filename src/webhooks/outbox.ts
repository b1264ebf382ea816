import type { DueLane } from './lanes.ts'

export type Sender = {
  /** A message that is owed was committed. */
  owed(due: DueLane): void
  /** Settles when nothing of these verifications is under way any more. */
  cancel(verificationIds: readonly string[]): Promise<void>
}

/** Between those who owe messages and the one who sends them. In a command nobody sends: the server sees what was written by itself. */
export type Outbox = Sender & { attach(sender: Sender): void }

export function createOutbox(): Outbox {
  let attached: Sender | undefined
  return {
    attach(sender) {
      attached = sender
    },
    owed: due => attached?.owed(due),
    cancel: async ids => await attached?.cancel(ids),
  }
}
