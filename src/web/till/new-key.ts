const BYTES = 18

/** An Idempotency-Key. `randomUUID` is missing on a LAN without https. */
export const newKey = (): string => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(BYTES))))
