import { useState } from 'preact/hooks'
import type { Session } from '../../../people/schema.ts'
import { ApiFailure } from '../../shared/api.ts'
import { Button } from '../../shared/button.tsx'
import { Field } from '../../shared/field.tsx'
import { Notice } from '../../shared/notice.tsx'
import { useAction } from '../action.ts'
import { callOpen } from '../client.ts'
import { Problem } from '../problem.tsx'
import { useWait } from '../wait.ts'
import { useDashboardWords } from '../words.ts'
import { type Entrance, EntranceFrame } from './entrance-frame.tsx'

type Props = { entrance: Entrance; why: 'away' | 'left' | undefined; onIn: (session: Session) => void }

export function LogIn({ entrance, why, onIn }: Props) {
  const words = useDashboardWords().entrance
  if (entrance.needs_setup) {
    return (
      <EntranceFrame title={words.needsSetup}>
        <p class="secondary">{words.needsSetupMore}</p>
      </EntranceFrame>
    )
  }
  return (
    <EntranceFrame title={words.login}>
      {why === 'away' && <Notice tone="wait">{words.ended}</Notice>}
      {why === 'left' && <Notice tone="ok">{words.signedOut}</Notice>}
      {entrance.accepts_passwords ? <LogInForm onIn={onIn} /> : <PlainHttp />}
    </EntranceFrame>
  )
}

function LogInForm({ onIn }: Pick<Props, 'onIn'>) {
  const words = useDashboardWords().entrance
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const logIn = useAction(async () => onIn(await callOpen<Session>('login', { name, password })))
  const waitSeconds = useWait(logIn.problem)
  return (
    <form class="stack" onSubmit={logIn.submit}>
      <Field
        label={words.name}
        name="username"
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        required
        autofocus
        value={name}
        onText={setName}
      />
      <Field
        label={words.password}
        type="password"
        name="password"
        autocomplete="current-password"
        required
        value={password}
        onText={setPassword}
      />
      {waitSeconds > 0 ? (
        <Notice tone="wait" alert>
          {words.waiting(waitSeconds)}
        </Notice>
      ) : (
        !isThrottled(logIn.problem) && <Problem of={logIn.problem} />
      )}
      <Button kind="primary" wide type="submit" busy={logIn.isBusy} disabled={waitSeconds > 0}>
        {words.login}
      </Button>
      <p class="hint">
        {words.forgot} {words.forgotOwner} <code>vidimus user reset NAME</code>
      </p>
    </form>
  )
}

const isThrottled = (problem: unknown): boolean => problem instanceof ApiFailure && problem.retryAfterSeconds !== undefined

function PlainHttp() {
  const words = useDashboardWords().entrance
  return (
    <Notice tone="no">
      <p>{words.plainHttp}</p>
      <p>{words.plainHttpMore}</p>
    </Notice>
  )
}
