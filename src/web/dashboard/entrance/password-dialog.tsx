import { useEffect, useState } from 'preact/hooks'
import type { Session } from '../../../people/schema.ts'
import type { Confirmation } from '../../../people/security-schema.ts'
import { Button } from '../../kit/button.tsx'
import { Field } from '../../kit/field.tsx'
import { Icon } from '../../kit/icons.tsx'
import { useAction } from '../action.ts'
import type { Client } from '../client.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Problem } from '../parts/problem.tsx'
import { CodeField } from './code-field.tsx'
import { answerWithPasskey, canUsePasskeys } from './passkey.ts'
import { useEntranceWords } from './words.ts'

type Props = { name: string; call: Client['call']; onRight: (session: Session) => void; onCancel: () => void }

/** Some steps need a proof of identity again: somebody else may sit at an open session. */
export function PasswordDialog({ name, call, onRight, onCancel }: Props) {
  const words = useEntranceWords()
  const [ways, setWays] = useState<typeof Confirmation.static>()
  const [isByCode, setIsByCode] = useState(false)
  const [typed, setTyped] = useState('')
  const prove = async (body: object) => onRight(await call<Session>('reauthenticate', { method: 'POST', body }))
  const byPasskey = useAction(async () => {
    // A new challenge: each can be answered only once.
    const { passkey } = await call<typeof Confirmation.static>('reauthenticate/challenge', { method: 'POST' })
    if (passkey) await prove({ passkey: await answerWithPasskey(passkey) })
  })
  useEffect(() => {
    // The dialog asks for the password alone if the call fails.
    call<typeof Confirmation.static>('reauthenticate/challenge', { method: 'POST' }).then(setWays, () => {})
  }, [])
  return (
    <FormDialog
      title={words.again}
      intro={words.againMore}
      verb={words.goOn}
      onSubmit={() => prove(isByCode ? { code: typed } : { password: typed })}
      onClose={onCancel}
    >
      <HiddenUserName name={name} />
      {isByCode ? (
        <CodeField key="code" value={typed} onText={setTyped} />
      ) : (
        <Field
          key="password"
          label={words.password}
          type="password"
          name="password"
          autocomplete="current-password"
          required
          autofocus
          value={typed}
          onText={setTyped}
        />
      )}
      {ways && (ways.has_codes || ways.passkey) && (
        <div class="row">
          {ways.passkey && canUsePasskeys(location.origin) && (
            <Button busy={byPasskey.isBusy} onClick={() => byPasskey.run()}>
              <Icon name="key" />
              {words.usePasskey}
            </Button>
          )}
          {ways.has_codes && (
            <Button
              kind="quiet"
              onClick={() => {
                setIsByCode(!isByCode)
                setTyped('')
              }}
            >
              {isByCode ? words.usePassword : words.useCode}
            </Button>
          )}
        </div>
      )}
      <Problem of={byPasskey.problem} />
    </FormDialog>
  )
}

/** A name for password managers, which look for one beside the password. */
export function HiddenUserName({ name }: { name: string }) {
  return (
    <input
      type="text"
      class="only-heard"
      name="username"
      autocomplete="username"
      value={name}
      readOnly
      tabIndex={-1}
      aria-hidden="true"
    />
  )
}
