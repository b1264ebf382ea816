import { type MailOutcome, sendMail } from '../egress/mail.ts'
import { apiError } from '../http/errors.ts'
import type { MailAddress } from '../people/users/addresses.ts'
import type { Deps } from './deps.ts'
import { recordLastMail } from './last-mail.ts'
import { type MailText, mailWords } from './words.ts'

type Delivery = {
  to: MailAddress
  say: (words: (typeof mailWords)['en']) => MailText
  id: string
  signal?: AbortSignal | undefined
}

/** Sends one mail, in the language of its receiver. Neither the address nor the words of the server reach the log. */
export async function deliver(deps: Deps, { to, say, id, signal }: Delivery): Promise<MailOutcome> {
  const { mail } = deps.config
  if (!mail) throw apiError('mail_not_set_up')
  const domain = mail.from.address.split('@')[1]
  const message = { to: to.address, ...say(mailWords[to.language]), messageId: `<${id}@${domain}>` }
  const outcome = await sendMail({ mail, resolve: deps.resolve, egress: deps.egress }, message, signal)
  const failure = outcome.ok ? null : outcome.failure
  deps.metrics.count('vidimus_mails_total', { outcome: failure ?? 'sent' })
  if (failure === null) deps.log.debug('mail.sent')
  else deps.log.warn('mail.failed', { failure })
  // A typing error in an address is no fault of the set-up.
  if (failure !== 'receiver_refused' && failure !== 'cancelled') await recordLastMail(deps, { at: deps.now(), failure })
  return outcome
}
