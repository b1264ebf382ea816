import { Type } from '@sinclair/typebox'
import { MAIL_ADDRESS, MAIL_ADDRESS_CHARS, MAIL_FAILURES } from '../egress/mail.ts'
import { Timestamp } from '../http/schema.ts'
import { Exactly, Nullable, OneOf } from '../http/wire.ts'
import { OneTimeLink } from '../people/schema.ts'

const address = Type.String({ pattern: MAIL_ADDRESS, ...MAIL_ADDRESS_CHARS, examples: ['olivia@shop.example'] })
const language = OneOf('en', 'de')

export const MailAddress = Exactly({ address, language })
export const MailLink = Exactly({ ...OneTimeLink.properties, address, language })

export const MailSettings = Exactly({
  /** The sender; null where the operator set no mail server. */
  from: Nullable(Type.String()),
  confirmed: Nullable(MailAddress),
  /** Waits until its link is followed. */
  pending: Nullable(Exactly({ address, language, expires_at: Timestamp })),
})
export type MailSettings = typeof MailSettings.static

export const MailSent = Exactly({
  /** Null when the server took it. */
  failure: Nullable(OneOf(...MAIL_FAILURES)),
  /** Words of the server. */
  reply: Nullable(Type.String()),
})
export type MailSent = typeof MailSent.static
