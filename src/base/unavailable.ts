/** The database did not answer. Whether an act took place may be unknown; repeating it may succeed. */
export class Unavailable extends Error {
  override name = 'Unavailable'
}

/** A database that refused to write is tried again after this time. */
export const REFUSED_MS = 1000

/** drizzle wraps the errors of its driver. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof Unavailable || (error as { cause?: unknown } | null)?.cause instanceof Unavailable
