/** Awaited between pieces of long work: other requests take their turn. One answer may occupy the service for 25 ms beyond its cryptography. */
export type NextTurn = (expectedMs?: number) => Promise<void>
