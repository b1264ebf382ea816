import { useState } from 'preact/hooks'
import type { MailSent, MailSettings } from '../../../../alerts/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Field } from '../../../kit/field.tsx'
import { useLanguage } from '../../../shared/language.ts'
import { useAction } from '../../action.ts'
import { type Data, useData } from '../../data.ts'
import { useFormat } from '../../format.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useSession } from '../../session.tsx'
import { Sent } from './sent.tsx'
import { useMailWords } from './words.ts'

/** Where an owner gets mail. */
export function MailAddress() {
  const words = useMailWords()
  const data = useData<MailSettings>('mail')
  return (
    <Card title={words.title}>
      <p class="secondary">{words.more}</p>
      <Loaded data={data}>
        {settings => (settings.from ? <Address settings={settings} data={data} /> : <p>{words.unset}</p>)}
      </Loaded>
    </Card>
  )
}

function Address({ settings: { confirmed, pending }, data }: { settings: MailSettings; data: Data<MailSettings> }) {
  const words = useMailWords()
  const { time } = useFormat()
  const { call } = useSession()
  const [isChanging, setIsChanging] = useState(false)
  const [isRemoving, setIsRemoving] = useState(false)
  const [sent, setSent] = useState<MailSent>()
  const test = useAction(async () => {
    setSent(undefined)
    setSent(await call<MailSent>('mail/test', { method: 'POST' }))
  })
  const remove = async () => {
    await call('mail/address', { method: 'DELETE' })
    setIsRemoving(false)
    setSent(undefined)
    data.reload()
  }
  const change = () => {
    setIsChanging(false)
    setSent(undefined)
    data.reload()
  }
  return (
    <>
      {confirmed && <p>{words.goesTo(confirmed.address)}</p>}
      {pending && <p>{words.waits(pending.address, time(pending.expires_at))}</p>}
      <Problem of={test.problem} />
      {confirmed && <Sent sent={sent} address={confirmed.address} />}
      {(!confirmed || isChanging) && <NewAddress onSent={change} />}
      {confirmed && (
        <div class="row">
          <Button busy={test.isBusy} onClick={() => test.run()}>
            {words.test}
          </Button>
          {!isChanging && <Button onClick={() => setIsChanging(true)}>{words.change}</Button>}
          <Button kind="quiet" onClick={() => setIsRemoving(true)}>
            {words.remove}
          </Button>
        </div>
      )}
      {confirmed && isRemoving && (
        <Confirm
          title={words.removeTitle(confirmed.address)}
          verb={words.remove}
          onClose={() => setIsRemoving(false)}
          onConfirm={remove}
        >
          {words.removeMore}
        </Confirm>
      )}
    </>
  )
}

function NewAddress({ onSent }: { onSent: () => void }) {
  const words = useMailWords()
  const language = useLanguage()
  const { call } = useSession()
  const [address, setAddress] = useState('')
  const [refused, setRefused] = useState<MailSent>()
  const send = useAction(async () => {
    setRefused(undefined)
    const sent = await call<MailSent>('mail/address', { method: 'PUT', body: { address, language } })
    if (sent.failure === null) onSent()
    else setRefused(sent)
  })
  return (
    <form class="stack" onSubmit={send.submit}>
      <Field
        label={words.address}
        hint={words.setMore}
        type="email"
        autocomplete="email"
        required
        value={address}
        onText={setAddress}
      />
      <Problem of={send.problem} />
      <Sent sent={refused} address={address} />
      <div>
        <Button type="submit" busy={send.isBusy}>
          {words.set}
        </Button>
      </div>
    </form>
  )
}
