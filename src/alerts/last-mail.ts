import type { MailFailure } from '../egress/mail.ts'
import type { Reading, Writing } from '../ground.ts'
import { findLastMail, keepLastMail } from './store.ts'

/** The latest mail that was tried: when, and why it failed. Without receiver and content. */
export type LastMail = { at: number; failure: MailFailure | null }

export async function readLastMail({ db }: Pick<Reading, 'db'>): Promise<LastMail | undefined> {
  const text = await findLastMail(db)
  return text === undefined ? undefined : JSON.parse(text)
}

export const recordLastMail = ({ write }: Pick<Writing, 'write'>, last: LastMail): Promise<void> =>
  write(tx => keepLastMail(tx, JSON.stringify(last)))
