/** Lets other requests take their turn: one answer may occupy the service for 25 ms beyond its cryptography. */
export const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
