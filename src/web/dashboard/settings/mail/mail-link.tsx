import { useState } from 'preact/hooks'
import type { MailSent, MailSettings } from '../../../../alerts/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Field } from '../../../kit/field.tsx'
import { useLanguage } from '../../../shared/language.ts'
import { useAction } from '../../action.ts'
import { useData } from '../../data.ts'
import { Problem } from '../../parts/problem.tsx'
import { useSession } from '../../session.tsx'
import { Sent } from './sent.tsx'
import { useMailWords } from './words.ts'

/** Sends a link to choose a password, beside showing it. Nothing where the service sends no mail. */
export function MailLink({ userId, url }: { userId: string; url: string }) {
  const words = useMailWords()
  const language = useLanguage()
  const { call } = useSession()
  const settings = useData<MailSettings>('mail')
  const [address, setAddress] = useState('')
  const [sent, setSent] = useState<{ outcome: MailSent; address: string }>()
  const send = useAction(async () => {
    setSent(undefined)
    const body = { token: url.slice(url.indexOf('=') + 1), address, language }
    setSent({ outcome: await call<MailSent>(`users/${userId}/mail-link`, { method: 'POST', body }), address })
  })
  if (!settings.value?.from) return null
  return (
    <form class="stack" onSubmit={send.submit}>
      <Field
        label={words.address}
        hint={words.byMailMore}
        type="email"
        autocomplete="off"
        required
        value={address}
        onText={setAddress}
      />
      <Problem of={send.problem} />
      <Sent sent={sent?.outcome} address={sent?.address ?? ''} />
      <div>
        <Button type="submit" busy={send.isBusy}>
          {words.byMail}
        </Button>
      </div>
    </form>
  )
}
