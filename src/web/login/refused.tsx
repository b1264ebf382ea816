import type * as en from './en.ts'
import { Page } from './page.tsx'
import { useLoginWords } from './words.ts'

export type RefusalReason = keyof typeof en.login.refused
const REASONS: readonly string[] = ['unknown_client', 'redirect_uri_mismatch', 'rate_limit_exceeded'] satisfies RefusalReason[]

export const isRefusal = (reason: string | undefined): reason is RefusalReason => reason !== undefined && REASONS.includes(reason)

/** Leads nowhere, and says nothing of what was sent. */
export function Refused({ reason }: { reason: RefusalReason }) {
  const { title, more } = useLoginWords().refused[reason]
  return (
    <Page seal="refused" title={title}>
      <p class="secondary">{more}</p>
    </Page>
  )
}
