import { useEffect, useState } from 'preact/hooks'
import type { Session } from '../../people/schema.ts'
import { Button } from '../kit/button.tsx'
import { Seal } from '../kit/seal.tsx'
import { ApiFailure } from '../shared/api.ts'
import { useCommon } from '../shared/language.ts'
import { callOpen } from './client.ts'
import { ConfirmMail } from './entrance/confirm-mail.tsx'
import { type Entrance, EntranceFrame } from './entrance/entrance-frame.tsx'
import { FirstFactor } from './entrance/first-factor.tsx'
import { FirstShop } from './entrance/first-shop.tsx'
import { LogIn } from './entrance/login.tsx'
import { OneTimeLinkView } from './entrance/one-time-link.tsx'
import { Frame } from './frame.tsx'
import { Problem } from './parts/problem.tsx'
import { LoggedIn } from './session.tsx'
import { forgetDraft } from './templates/draft.ts'
import { useDashboardWords } from './words.ts'

/** The state of the log-in. The wanted view stays in the address. */
type Where =
  | { at: 'start' }
  | { at: 'unreachable'; problem: unknown }
  | { at: 'link' | 'mail'; token: string }
  | { at: 'login'; entrance: Entrance; why?: 'away' | 'left' }
  | { at: 'inside'; session: Session }

const AGAIN_MS = 5000
const LINK = /^#(setup|password|mail)=([A-Za-z0-9_-]+)$/

export function Dashboard() {
  const [where, setWhere] = useState<Where>(firstPlace)
  const enter = (session: Session) => setWhere({ at: 'inside', session })
  const start = () => setWhere({ at: 'start' })
  /** The look is in the background: the error message stays readable. */
  const lookAgain = async () => {
    const found = await findPlace()
    setWhere(now => (now.at === 'unreachable' ? found : now))
  }
  /** A late answer to a call of an ended session must not end the next one. */
  const end = async (session: Session, why: 'away' | 'left') => {
    const door = await atTheDoor(why)
    setWhere(now => (now.at === 'inside' && now.session === session ? door : now))
  }
  useEffect(() => {
    if (where.at === 'start') void findPlace().then(setWhere)
    if (where.at === 'login' && where.why === 'left') forgetDraft()
  }, [where.at])
  useEffect(() => {
    // Pasting a link into an open dashboard does not reload it.
    const follow = () => LINK.test(location.hash) && setWhere(firstPlace())
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  switch (where.at) {
    case 'start':
      return <Starting />
    case 'unreachable':
      return <NoAnswer problem={where.problem} onRetry={start} lookAgain={lookAgain} />
    case 'link':
      return <OneTimeLinkView token={where.token} onIn={enter} onLogIn={start} />
    case 'mail':
      return <ConfirmMail token={where.token} onLogIn={start} />
    case 'login':
      return <LogIn entrance={where.entrance} why={where.why} onIn={enter} />
    case 'inside':
      return (
        <LoggedIn key={where.session.user.id} first={where.session} onEnded={why => void end(where.session, why)}>
          <Inside />
        </LoggedIn>
      )
  }
}

/** Removes the token of a link from the address bar and the history at once. */
function firstPlace(): Where {
  const [, kind, token] = LINK.exec(location.hash) ?? []
  if (!token) return { at: 'start' }
  history.replaceState(null, '', location.pathname + location.search)
  return { at: kind === 'mail' ? 'mail' : 'link', token }
}

async function findPlace(): Promise<Where> {
  try {
    return { at: 'inside', session: await callOpen<Session>('session') }
  } catch (problem) {
    if (problem instanceof ApiFailure && (problem.status === 401 || problem.code === 'https_required')) return await atTheDoor()
    return { at: 'unreachable', problem }
  }
}

async function atTheDoor(why?: 'away' | 'left'): Promise<Where> {
  try {
    return { at: 'login', entrance: await callOpen<Entrance>('entrance'), why }
  } catch (problem) {
    return { at: 'unreachable', problem }
  }
}

function Inside() {
  return (
    <FirstFactor>
      <FirstShop>
        <Frame />
      </FirstShop>
    </FirstFactor>
  )
}

function Starting() {
  const common = useCommon()
  return (
    <main class="entrance stack loose middle">
      <h1 class="only-heard">{common.loading}</h1>
      <Seal state="busy" />
    </main>
  )
}

function NoAnswer({ problem, onRetry, lookAgain }: { problem: unknown; onRetry: () => void; lookAgain: () => Promise<void> }) {
  const words = useDashboardWords()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const wait = () => {
      if (!isOver) timer = setTimeout(() => void lookAgain().then(wait), AGAIN_MS)
    }
    wait()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [])
  return (
    <EntranceFrame title={words.title}>
      <Problem of={problem} />
      <Button kind="primary" onClick={onRetry}>
        {words.retry}
      </Button>
    </EntranceFrame>
  )
}
