// Mail that an owner asks for: it is sent at once, and the owner sees the answer of the server.
import { newNonce } from '../base/ids.ts'
import type { MailOutcome } from '../egress/mail.ts'
import { apiError } from '../http/errors.ts'
import { actorOf, type Visit } from '../people/session.ts'
import { confirmUrl, draftAddress, dropDraft, type MailAddress, readAddresses } from '../people/users/addresses.ts'
import { passwordUrl, readLinkOf, recordMailed } from '../people/users/links.ts'
import { deliver } from './deliver.ts'
import type { Deps } from './deps.ts'
import type { MailSent, MailSettings } from './schema.ts'

export async function readMailSettings(deps: Deps, { user }: Visit): Promise<MailSettings> {
  const { confirmed = null, pending = null } = await readAddresses(deps, user.id)
  return { from: deps.config.mail?.from.address ?? null, confirmed, pending }
}

/** Sends the link that confirms the address. An address that gets none is forgotten. */
export async function askToConfirm(deps: Deps, { user }: Visit, to: MailAddress): Promise<MailSent> {
  const { publicUrl } = requireMail(deps)
  const { token, expiresAt: until } = await draftAddress(deps, user.id, to)
  const url = confirmUrl(publicUrl, token)
  const outcome = await deliver(deps, { to, say: words => words.confirm({ publicUrl, url, until }), id: newNonce(deps.random) })
  if (!outcome.ok) await dropDraft(deps, user.id)
  return presentSent(outcome)
}

export async function sendTest(deps: Deps, { user }: Visit): Promise<MailSent> {
  const { publicUrl } = requireMail(deps)
  const { confirmed: to } = await readAddresses(deps, user.id)
  if (!to) throw apiError('no_mail_address')
  return presentSent(await deliver(deps, { to, say: words => words.test({ publicUrl }), id: newNonce(deps.random) }))
}

/** Only its maker knows the token of a link, so nobody else can have it sent. */
export async function mailLink(
  deps: Deps,
  { user: owner }: Visit,
  id: string,
  { token, ...to }: MailAddress & { token: string },
): Promise<MailSent> {
  const { publicUrl } = requireMail(deps)
  const { user, expiresAt: until } = await readLinkOf(deps, id, token)
  const about = { publicUrl, url: passwordUrl(publicUrl, { token }), until, name: user.name, isNew: user.password === null }
  const outcome = await deliver(deps, { to, say: words => words.link(about), id: newNonce(deps.random) })
  if (outcome.ok) await recordMailed(deps, user, actorOf(owner))
  return presentSent(outcome)
}

function requireMail({ config }: Deps): { publicUrl: string } {
  if (!config.mail) throw apiError('mail_not_set_up')
  return config
}

const presentSent = (outcome: MailOutcome): MailSent =>
  outcome.ok ? { failure: null, reply: null } : { failure: outcome.failure, reply: outcome.reply ?? null }
