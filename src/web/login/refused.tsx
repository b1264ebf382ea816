import { Page } from './page.tsx'
import { useLoginWords } from './words.ts'

/** Leads nowhere, and says nothing of what was sent. */
export function Refused({ reason }: { reason: 'unknown_client' | 'redirect_uri_mismatch' }) {
  const { title, more } = useLoginWords().refused[reason]
  return (
    <Page seal="refused" title={title}>
      <p class="secondary">{more}</p>
    </Page>
  )
}
