import type { OpenSessions } from '../../../../people/schema.ts'
import { Badge } from '../../../kit/badge.tsx'
import { Card } from '../../../kit/card.tsx'
import { Table } from '../../../kit/table.tsx'
import { Time } from '../../../shared/time.tsx'
import { useAction } from '../../action.ts'
import { useData } from '../../data.ts'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useSession } from '../../session.tsx'
import { useProfileWords } from './words.ts'

type Open = (typeof OpenSessions.static)['data'][number]

/** The sessions in which the user is logged in. */
export function Sessions() {
  const words = useProfileWords()
  const { call, leave } = useSession()
  const data = useData<typeof OpenSessions.static>('sessions')
  const end = useAction(async ({ id, is_current }: Open) => {
    if (is_current) return await leave('DELETE', `sessions/${id}`)
    await call(`sessions/${id}`, { method: 'DELETE' })
    data.reload()
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
                kind: 'wraps',
                cell: (each, folded) => (
                  <>
                    <span title={each.agent}>
                      {each.is_current && <Badge tone="ok">{words.thisOne}</Badge>} {browserOf(each.agent)}
                    </span>
                    {folded}
                  </>
                ),
              },
              { title: words.since, folds: 'tablet', cell: each => <Time at={each.created_at} /> },
              { title: words.lastUsed, folds: 'phone', below: 'titled', cell: each => <Time at={each.last_seen_at} /> },
            ]}
            rows={sessions}
            keyOf={({ id }) => id}
            actions={{
              title: words.endSession,
              label: ({ agent }) => words.endSessionOf(browserOf(agent)),
              of: each => [{ verb: words.endSession, act: () => end.run(each) }],
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
          onConfirm={() => leave('DELETE', 'sessions')}
        >
          {words.everywhereMore}
        </ConfirmButton>
      </div>
    </Card>
  )
}

/** The order matters: Edge calls itself Chrome too, and Chrome calls itself Safari. */
const BROWSERS = { 'Edg/': 'Edge', 'OPR/': 'Opera', 'Firefox/': 'Firefox', 'Chrome/': 'Chrome', 'Safari/': 'Safari' }
const SYSTEMS = { Android: 'Android', iPhone: 'iOS', iPad: 'iOS', Windows: 'Windows', 'Mac OS X': 'macOS', Linux: 'Linux' }

/** Browser and system by their usual names; for an unknown agent its first word. */
export function browserOf(agent: string): string {
  const named = [BROWSERS, SYSTEMS].map(names => Object.entries(names).find(([part]) => agent.includes(part))?.[1])
  return named.filter(Boolean).join(', ') || (agent.split(' ')[0] ?? '') || '–'
}
