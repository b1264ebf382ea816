import { useState } from 'preact/hooks'
import type { Session } from '../../people/schema.ts'
import { Field } from '../shared/field.tsx'
import type { Client } from './client.ts'
import { FormDialog } from './form-dialog.tsx'
import { useDashboardWords } from './words.ts'

type Props = { name: string; call: Client['call']; onRight: (session: Session) => void; onCancel: () => void }

/** Some steps need the password again: somebody else may sit at an open session. */
export function PasswordDialog({ name, call, onRight, onCancel }: Props) {
  const words = useDashboardWords().entrance
  const [password, setPassword] = useState('')
  return (
    <FormDialog
      title={words.again}
      intro={words.againMore}
      verb={words.goOn}
      onSubmit={async () => onRight(await call<Session>('reauthenticate', { method: 'POST', body: { password } }))}
      onClose={onCancel}
    >
      <HiddenUserName name={name} />
      <Field
        label={words.password}
        type="password"
        name="password"
        autocomplete="current-password"
        required
        autofocus
        value={password}
        onText={setPassword}
      />
    </FormDialog>
  )
}

/** For password managers, which look for a name beside the password. */
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
