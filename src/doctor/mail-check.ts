import { readLastMail } from '../alerts/last-mail.ts'
import { notSetUp, ok, problem, secondOf, warning } from '../db/check.ts'
import { readOwnerAddresses } from '../people/users/addresses.ts'
import type { Scene } from './scene.ts'

/** Whether alerts reach somebody. Sends nothing and calls nobody: the latest mail says enough. */
export async function checkMail({ deps }: Scene) {
  const { mail } = deps.config
  if (!mail) return notSetUp('no_mail')
  const last = await readLastMail(deps)
  if (last?.failure) return problem('mail_failing', { at: secondOf(last.at), failure: last.failure })
  const receivers = (await readOwnerAddresses(deps)).size
  if (receivers === 0) return warning('mail_for_nobody')
  return last ? ok('mail_sent', { at: secondOf(last.at), receivers }) : ok('mail_untried', { receivers })
}
