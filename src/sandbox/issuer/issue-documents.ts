import type { Configured, Making } from '../../ground.ts'
import type { Deps } from '../deps.ts'
import type { IssueDocuments, IssuedDocuments } from '../schema.ts'

/** Issues the documents of a persona to anybody: only test sessions trust them. Nothing is stored. */
export async function issueDocuments(
  deps: Making & Configured & Pick<Deps, 'sandbox'>,
  { persona, holder_key }: IssueDocuments,
): Promise<IssuedDocuments> {
  const { issuer } = await deps.sandbox()
  const now = deps.now()
  const credentials = await issuer.issue({ persona, holderKey: holder_key, now, random: deps.random })
  return { credentials, public_url: deps.config.publicUrl, now: new Date(now).toISOString() }
}
