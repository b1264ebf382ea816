// Argon2id at its real cost takes 64 MiB and a quarter of a second, which adds up to minutes. Loaded before all tests: the
// runtime's function gets the smallest cost there is, and the hash of real cost that belongs to nobody is refused at once.
import { afterAll, beforeAll } from 'bun:test'
import { NOBODYS_PASSWORD } from '../../src/people/log-in/passwords.ts'

const { hash, verify } = Bun.password

const cheap: Pick<typeof Bun.password, 'hash' | 'verify'> = {
  hash: (password, options) =>
    hash(password, typeof options === 'object' ? { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } : options),
  verify: async (password, kept, ...rest) => (kept === NOBODYS_PASSWORD ? false : await verify(password, kept, ...rest)),
}

export const makePasswordsCheap = (): unknown => Object.assign(Bun.password, cheap)

/** For the tests of one `describe`, or of one file, that are about the cost. */
export function useRealPasswords(): void {
  beforeAll(() => void Object.assign(Bun.password, { hash, verify }))
  afterAll(() => void makePasswordsCheap())
}
