// Argon2id takes 64 MiB and a quarter of a second, so few run at once and few wait: many log-ins at
// one moment must not use up the memory.
import { apiError } from '../../http/errors.ts'

const AT_ONCE_MAX = 2
const WAITING_MAX = 20
const BUSY_RETRY_SECONDS = 5

const ARGON2ID = { algorithm: 'argon2id', memoryCost: 65_536, timeCost: 2 } as const

/** Compared for names without a password, so that they cost the same work. */
export const NOBODYS_PASSWORD =
  '$argon2id$v=19$m=65536,t=2,p=1$sCYVSf8qKcWmDXuMhnjSzVgtyk2lRTlwHQBqlRKxIo4$0JR3ZWa0XYy0mMFfVvJm5bLzVh8u3mJcGkmzHnS0sWA'

export type Passwords = {
  hash(password: string): Promise<string>
  /** `before` runs in this password's turn, ahead of the comparison. */
  verify(password: string, kept: string | null, before: () => Promise<void>): Promise<boolean>
}

export function createPasswords(): Passwords {
  const waiting: (() => void)[] = []
  let running = 0

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE_MAX) await turn()
    else running++
    try {
      return await work()
    } finally {
      // The next in line takes the place, if there is one.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }

  async function turn(): Promise<void> {
    if (waiting.length >= WAITING_MAX) throw apiError('rate_limit_exceeded', { retryAfter: BUSY_RETRY_SECONDS })
    await new Promise<void>(resolve => waiting.push(resolve))
  }

  return {
    hash: password => inTurn(() => Bun.password.hash(composed(password), ARGON2ID)),
    verify: (password, kept, before) =>
      inTurn(async () => {
        await before()
        const isRight = await Bun.password.verify(composed(password), kept ?? NOBODYS_PASSWORD)
        return isRight && kept !== null
      }),
  }
}

/** An accented letter arrives as one character or as two, by keyboard. */
const composed = (password: string): string => password.normalize('NFC')
