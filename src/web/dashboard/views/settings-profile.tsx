import { useState } from 'preact/hooks'
import type { OpenSessions, Session } from '../../../dashboard/schema.ts'
import { Badge } from '../../shared/badge.tsx'
import { Button } from '../../shared/button.tsx'
import { Card } from '../../shared/card.tsx'
import { Field } from '../../shared/field.tsx'
import { LanguageSwitch } from '../../shared/language.tsx'
import { Notice } from '../../shared/notice.tsx'
import { Table } from '../../shared/table.tsx'
import { Time } from '../../shared/time.tsx'
import { useAction } from '../action.ts'
import { Confirm } from '../confirm.tsx'
import { useData } from '../data.ts'
import { Loaded } from '../loaded.tsx'
import { Problem } from '../problem.tsx'
import { useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { NewPassword } from './new-password.tsx'

export function ProfileSettings() {
  const words = useDashboardWords().settings
  const { session } = useSession()
  return (
    <>
      <Card title={words.profile}>
        <p>
          {words.you(session.user.name)} <Badge>{session.user.is_owner ? words.role.owner : words.role.member}</Badge>
        </p>
        <div class="row">
          <LanguageSwitch />
          <p class="hint">{words.theme}</p>
        </div>
      </Card>
      <ChangePassword />
      <Sessions />
    </>
  )
}

function ChangePassword() {
  const words = useDashboardWords()
  const { session, call, renew } = useSession()
  const [old, setOld] = useState('')
  const [next, setNext] = useState('')
  const [isChanged, setIsChanged] = useState(false)
  const change = useAction(async () => {
    setIsChanged(false)
    await renew(await call<Session>('password', { method: 'POST', body: { password: old, new_password: next } }))
    setOld('')
    setNext('')
    setIsChanged(true)
  })
  return (
    <Card title={words.settings.password}>
      <form class="stack" onSubmit={change.submit}>
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
          label={words.settings.oldPassword}
          type="password"
          autocomplete="current-password"
          required
          value={old}
          onInput={event => setOld(event.currentTarget.value)}
        />
        <NewPassword label={words.entrance.newPassword} value={next} onInput={setNext} />
        <p class="hint">{words.settings.passwordMore}</p>
        <Problem of={change.problem} />
        <p role="status">{isChanged && <Notice tone="ok">{words.settings.passwordChanged}</Notice>}</p>
        <div>
          <Button type="submit" busy={change.isBusy}>
            {words.settings.changePassword}
          </Button>
        </div>
      </form>
    </Card>
  )
}

type Open = (typeof OpenSessions.static)['data'][number]

function Sessions() {
  const words = useDashboardWords().settings
  const { call, leave } = useSession()
  const data = useData<typeof OpenSessions.static>('sessions')
  const [isAsking, setIsAsking] = useState(false)
  const end = useAction(async ({ id, is_current }: Open) => {
    await call(`sessions/${id}`, { method: 'DELETE' })
    if (is_current) leave()
    else data.reload()
  })
  return (
    <Card title={words.sessions}>
      <Loaded data={data}>
        {({ data: sessions }) => (
          <Table
            caption={words.sessionsCaption}
            columns={[
              {
                title: words.browser,
                kind: 'grows',
                cell: each => (
                  <span title={each.agent}>
                    {each.is_current && <Badge tone="ok">{words.thisOne}</Badge>} {browserOf(each.agent)}
                  </span>
                ),
              },
              {
                title: <span class="extra">{words.since}</span>,
                cell: each => (
                  <span class="extra">
                    <Time at={each.created_at} />
                  </span>
                ),
              },
              { title: words.lastUsed, cell: each => <Time at={each.last_seen_at} /> },
              {
                title: <span class="only-heard">{words.endSession}</span>,
                kind: 'number',
                cell: each => (
                  <button
                    type="button"
                    class="row-button"
                    aria-label={words.endSessionOf(browserOf(each.agent))}
                    onClick={() => end.run(each)}
                  >
                    {words.endSession}
                  </button>
                ),
              },
            ]}
            rows={sessions}
            keyOf={({ id }) => id}
          />
        )}
      </Loaded>
      <Problem of={end.problem} />
      <div>
        <Button kind="danger" onClick={() => setIsAsking(true)}>
          {words.everywhere}
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title={words.everywhereTitle}
          verb={words.everywhere}
          onClose={() => setIsAsking(false)}
          onConfirm={async () => {
            await call('sessions', { method: 'DELETE' })
            leave()
          }}
        >
          {words.everywhereMore}
        </Confirm>
      )}
    </Card>
  )
}

const BROWSERS = [/Edg\//, /OPR\//, /Firefox\//, /Chrome\//, /Safari\//]
const BROWSER_NAMES = ['Edge', 'Opera', 'Firefox', 'Chrome', 'Safari']
const SYSTEMS = [/Android/, /iPhone|iPad/, /Windows/, /Mac OS X/, /Linux/]
const SYSTEM_NAMES = ['Android', 'iOS', 'Windows', 'macOS', 'Linux']

/** As a person would call it; what calls itself otherwise is named by its first word. */
function browserOf(agent: string): string {
  const browser = BROWSER_NAMES[BROWSERS.findIndex(pattern => pattern.test(agent))]
  const system = SYSTEM_NAMES[SYSTEMS.findIndex(pattern => pattern.test(agent))]
  return [browser, system].filter(Boolean).join(', ') || (agent.split(' ')[0] ?? '') || '–'
}
