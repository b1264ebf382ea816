const BYTES = 18

/** An Idempotency-Key. Not `randomUUID`: on a LAN without https there is none. */
export const newKey = (): string => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(BYTES))))
