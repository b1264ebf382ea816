import { useState } from 'preact/hooks'
import type { Session } from '../../dashboard/schema.ts'
import { Button } from '../shared/button.tsx'
import { Dialog } from '../shared/dialog.tsx'
import { Field } from '../shared/field.tsx'
import { useCommon } from '../shared/language.tsx'
import { useAction } from './action.ts'
import { Problem } from './problem.tsx'
import { useSession } from './session.tsx'
import { useDashboardWords } from './words.ts'

type Props = { onRight: (session: Session) => void; onCancel: () => void }

/** Some steps want to know that it is still the same person. */
export function PasswordDialog({ onRight, onCancel }: Props) {
  const words = useDashboardWords().entrance
  const common = useCommon()
  const { session, call } = useSession()
  const [password, setPassword] = useState('')
  const confirm = useAction(async () => onRight(await call<Session>('reauthenticate', { method: 'POST', body: { password } })))
  return (
    <Dialog title={words.again} onClose={onCancel}>
      <form class="stack" onSubmit={confirm.submit}>
        <p class="secondary">{words.againMore}</p>
        <input
          type="text"
          class="only-heard"
          name="username"
          autocomplete="username"
          value={session.user.name}
          readOnly
          tabIndex={-1}
          aria-hidden="true"
        />
        <Field
          label={words.password}
          type="password"
          name="password"
          autocomplete="current-password"
          required
          autofocus
          value={password}
          onInput={event => setPassword(event.currentTarget.value)}
        />
        <Problem of={confirm.problem} />
        <div class="row end">
          <Button onClick={onCancel}>{common.cancel}</Button>
          <Button kind="primary" type="submit" busy={confirm.isBusy}>
            {words.goOn}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
