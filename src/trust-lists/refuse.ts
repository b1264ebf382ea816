import type { ListRefused, RefusalCode } from './list.ts'

/** `detail` is the rest of a sentence that begins with the list's name. */
export const refuse = (code: RefusalCode, detail: string): ListRefused => ({ ok: false, code, detail })

/** Ends the reading of a list from inside its parts. */
export class Unreadable extends Error {
  override name = 'Unreadable'
  constructor(
    readonly code: RefusalCode,
    readonly detail: string,
  ) {
    super(detail)
  }
}

export const malformed = (detail: string): Unreadable => new Unreadable('malformed', detail)
