import { useEffect, useState } from 'preact/hooks'
import type { OneTimeLinkState, Session } from '../../../people/schema.ts'
import type { HalfLogin } from '../../../people/security-schema.ts'
import { Button } from '../../kit/button.tsx'
import { Field } from '../../kit/field.tsx'
import { Notice } from '../../kit/notice.tsx'
import { Seal } from '../../kit/seal.tsx'
import { ApiFailure } from '../../shared/api.ts'
import { useCommon } from '../../shared/language.ts'
import { callOpen } from '../client.ts'
import { Problem } from '../parts/problem.tsx'
import { type Entrance, EntranceForm, EntranceFrame } from './entrance-frame.tsx'
import { NewPassword, NewUserName } from './new-password.tsx'
import { SecondStep } from './second-step.tsx'
import { useEntranceWords } from './words.ts'

type LinkState = typeof OneTimeLinkState.static
type Props = { token: string; onIn: (session: Session) => void; onLogIn: () => void }

/** A link printed by the program or handed over by an owner. Opening it changes nothing yet. */
export function OneTimeLinkView({ token, onIn, onLogIn }: Props) {
  const words = useEntranceWords()
  const common = useCommon()
  const [link, setLink] = useState<LinkState>()
  const [problem, setProblem] = useState<unknown>()
  useEffect(() => {
    callOpen<LinkState>('link', { token }).then(setLink, setProblem)
  }, [token])
  if (problem !== undefined) return <DeadLink problem={problem} onLogIn={onLogIn} />
  if (!link) {
    return (
      <EntranceFrame title={common.loading}>
        <Seal state="busy" />
      </EntranceFrame>
    )
  }
  if (link.kind === 'setup') return <SetUp token={token} onIn={onIn} />
  const name = link.name ?? ''
  return link.kind === 'invitation' ? (
    <ChoosePassword {...{ token, name, onIn, onLogIn }} title={words.invitation(name)} intro={words.invitationMore} />
  ) : (
    <ChoosePassword {...{ token, name, onIn, onLogIn }} title={words.reset(name)} intro={words.resetMore} />
  )
}

function DeadLink({ problem, onLogIn }: { problem: unknown; onLogIn: () => void }) {
  const words = useEntranceWords()
  const [needsSetup, setNeedsSetup] = useState<boolean>()
  useEffect(() => {
    if (!(problem instanceof ApiFailure)) return setNeedsSetup(false)
    const cannotTell = () => setNeedsSetup(false)
    callOpen<Entrance>('entrance').then(({ needs_setup }) => setNeedsSetup(needs_setup), cannotTell)
  }, [])
  return (
    <EntranceFrame title={words.linkDead}>
      {needsSetup && (
        <Notice tone="no" alert>
          {words.linkDeadSetup}
        </Notice>
      )}
      {/* A malformed token is shown like a used one. */}
      {needsSetup === false && <Problem of={problem instanceof ApiFailure && problem.status === 400 ? DEAD : problem} />}
      <Button kind="primary" onClick={onLogIn}>
        {words.toLogin}
      </Button>
    </EntranceFrame>
  )
}

const DEAD = new ApiFailure(404, 'link_unavailable', '', undefined)

/** The first user, who owns the installation. */
function SetUp({ token, onIn }: Pick<Props, 'token' | 'onIn'>) {
  const words = useEntranceWords()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const setUp = async () => onIn(await callOpen<Session>('setup', { token, name, password }))
  return (
    <EntranceForm title={words.setup} intro={words.setupMore} verb={words.setupDo} onSubmit={setUp}>
      <NewUserName label={words.name} autocomplete="username" value={name} onText={setName} />
      <NewPassword label={words.password} value={password} onText={setPassword} />
    </EntranceForm>
  )
}

type ChooseProps = Props & { name: string; title: string; intro: string }

function ChoosePassword({ token, name, title, intro, onIn, onLogIn }: ChooseProps) {
  const words = useEntranceWords()
  const [password, setPassword] = useState('')
  const [half, setHalf] = useState<HalfLogin>()
  const choose = async () => {
    const answer = await callOpen<Session | HalfLogin>('choose-password', { token, password })
    if ('ticket' in answer) setHalf(answer)
    else onIn(answer)
  }
  if (half) return <SecondStep half={half} onIn={onIn} onBack={onLogIn} />
  return (
    <EntranceForm title={title} intro={intro} verb={words.choose} onSubmit={choose}>
      <Field label={words.name} name="username" autocomplete="username" readOnly value={name} />
      <NewPassword label={words.newPassword} value={password} onText={setPassword} autofocus />
    </EntranceForm>
  )
}
