import { useState } from 'preact/hooks'
import type { OpenSessions, Session } from '../../../people/schema.ts'
import { Badge } from '../../shared/badge.tsx'
import { Button } from '../../shared/button.tsx'
import { Card } from '../../shared/card.tsx'
import { Field } from '../../shared/field.tsx'
import { LanguageSwitch } from '../../shared/language.tsx'
import { Table } from '../../shared/table.tsx'
import { Time } from '../../shared/time.tsx'
import { useAction } from '../action.ts'
import { ConfirmButton } from '../confirm.tsx'
import { useData } from '../data.ts'
import { Loaded } from '../loaded.tsx'
import { HiddenUserName } from '../password-dialog.tsx'
import { Problem } from '../problem.tsx'
import { Saved } from '../saved.tsx'
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
        <HiddenUserName name={session.user.name} />
        <Field
          label={words.settings.oldPassword}
          type="password"
          autocomplete="current-password"
          required
          value={old}
          onText={setOld}
        />
        <NewPassword label={words.entrance.newPassword} value={next} onText={setNext} />
        <p class="hint">{words.settings.passwordMore}</p>
        <Saved action={change} isSaved={isChanged} sentence={words.settings.passwordChanged} />
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
              { title: words.since, folds: 'tablet', cell: each => <Time at={each.created_at} /> },
              { title: words.lastUsed, cell: each => <Time at={each.last_seen_at} /> },
            ]}
            rows={sessions}
            keyOf={({ id }) => id}
            actions={{
              title: words.endSession,
              of: each => [
                { verb: words.endSession, label: words.endSessionOf(browserOf(each.agent)), act: () => end.run(each) },
              ],
            }}
          />
        )}
      </Loaded>
      <Problem of={end.problem} />
      <div>
        <ConfirmButton
          kind="danger"
          title={words.everywhereTitle}
          verb={words.everywhere}
          onConfirm={() => call('sessions', { method: 'DELETE' }).then(leave)}
        >
          {words.everywhereMore}
        </ConfirmButton>
      </div>
    </Card>
  )
}

/** In this order: Edge calls itself Chrome too, and Chrome calls itself Safari. */
const BROWSERS = { 'Edg/': 'Edge', 'OPR/': 'Opera', 'Firefox/': 'Firefox', 'Chrome/': 'Chrome', 'Safari/': 'Safari' }
const SYSTEMS = { Android: 'Android', iPhone: 'iOS', iPad: 'iOS', Windows: 'Windows', 'Mac OS X': 'macOS', Linux: 'Linux' }

/** Browser and system by their usual names; for an unknown agent its first word. */
function browserOf(agent: string): string {
  const named = [BROWSERS, SYSTEMS].map(names => Object.entries(names).find(([part]) => agent.includes(part))?.[1])
  return named.filter(Boolean).join(', ') || (agent.split(' ')[0] ?? '') || '–'
}
