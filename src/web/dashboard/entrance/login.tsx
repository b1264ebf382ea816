import { useState } from 'preact/hooks'
import type { Session } from '../../../people/schema.ts'
import type { HalfLogin, PasskeyRequest } from '../../../people/security-schema.ts'
import { Button } from '../../kit/button.tsx'
import { Copy } from '../../kit/copy.tsx'
import { Field } from '../../kit/field.tsx'
import { Icon } from '../../kit/icons.tsx'
import { Notice } from '../../kit/notice.tsx'
import { ApiFailure } from '../../shared/api.ts'
import { useCommon } from '../../shared/language.ts'
import { useAction } from '../action.ts'
import { callOpen } from '../client.ts'
import { Problem } from '../parts/problem.tsx'
import { type Entrance, EntranceFrame } from './entrance-frame.tsx'
import { answerWithPasskey, canUsePasskeys } from './passkey.ts'
import { SecondStep } from './second-step.tsx'
import { useWait } from './wait.ts'
import { useEntranceWords } from './words.ts'

type Props = { entrance: Entrance; why: 'away' | 'left' | undefined; onIn: (session: Session) => void }

export function LogIn({ entrance, why, onIn }: Props) {
  const words = useEntranceWords()
  const [half, setHalf] = useState<HalfLogin>()
  if (half) return <SecondStep half={half} onIn={onIn} onBack={() => setHalf(undefined)} />
  if (entrance.needs_setup) {
    return (
      <EntranceFrame title={words.needsSetup}>
        <p class="secondary">{words.needsSetupMore}</p>
      </EntranceFrame>
    )
  }
  return (
    <EntranceFrame title={words.login}>
      {why === 'away' && (
        <Notice tone="wait" alert>
          {words.ended}
        </Notice>
      )}
      {why === 'left' && (
        <Notice tone="ok" alert>
          {words.signedOut}
        </Notice>
      )}
      {entrance.accepts_passwords ? <LogInForm entrance={entrance} onIn={onIn} onHalf={setHalf} /> : <PlainHttp />}
    </EntranceFrame>
  )
}

type FormProps = Pick<Props, 'entrance' | 'onIn'> & { onHalf: (half: HalfLogin) => void }

function LogInForm({ entrance, onIn, onHalf }: FormProps) {
  const words = useEntranceWords()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const logIn = useAction(async () => {
    const answer = await callOpen<Session | HalfLogin>('login', { name, password })
    if ('ticket' in answer) onHalf(answer)
    else onIn(answer)
  })
  const byPasskey = useAction(async () => {
    const passkey = await answerWithPasskey(await callOpen<PasskeyRequest>('login/passkey/challenge', {}))
    onIn(await callOpen<Session>('login/passkey', { passkey }))
  })
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
      {canUsePasskeys(entrance.passkey_origin) && (
        <>
          <Button wide busy={byPasskey.isBusy} onClick={() => byPasskey.run()}>
            <Icon name="key" />
            {words.byPasskey}
          </Button>
          <Problem of={byPasskey.problem} />
        </>
      )}
      <p class="hint">
        {words.forgot} {words.forgotOwner} <code>vidimus user reset NAME</code>
      </p>
    </form>
  )
}

const isThrottled = (problem: unknown): boolean => problem instanceof ApiFailure && problem.retryAfterSeconds !== undefined

/** The two ways out: https on the network, or a tunnel to the machine itself. */
function PlainHttp() {
  const words = useEntranceWords()
  const common = useCommon()
  const port = location.port || '80'
  const local = `http://localhost:${port}${location.pathname}`
  return (
    <>
      <Notice tone="no">
        <p>{words.plainHttp}</p>
      </Notice>
      <section class="stack tight">
        <h2>{words.plainHttpTls}</h2>
        <p class="secondary">{words.plainHttpTlsMore}</p>
        <Copy text="vidimus tls init" label={common.command} />
      </section>
      <section class="stack tight">
        <h2>{words.plainHttpTunnel}</h2>
        <p class="secondary">{words.plainHttpTunnelMore(local)}</p>
        <Copy text={`ssh -L ${port}:localhost:${port} ${location.hostname}`} label={common.command} wraps />
      </section>
    </>
  )
}
