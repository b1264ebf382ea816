import { json, table, text, time } from '../columns.ts'

/** Wrong pairing codes by network. Networks are kept as an HMAC: an address is personal data, and only its recurrence matters. */
export const pairingGuesses = table('pairing_guesses', {
  network: text('network').primaryKey(),
  /** The latest times, no more than it takes to be locked out. */
  failedAt: json<number[]>('failed_at').notNull(),
  lockedUntil: time('locked_until').notNull(),
  forgetAt: time('forget_at').notNull(),
})

/** Networks from which somebody authenticated, to the day. */
export const knownNetworks = table('known_networks', {
  network: text('network').primaryKey(),
  seenAt: time('seen_at').notNull(),
})
