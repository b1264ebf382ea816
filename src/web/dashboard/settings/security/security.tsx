import { useState } from 'preact/hooks'
import type { Security, SignIn } from '../../../../people/security-schema.ts'
import { Badge } from '../../../kit/badge.tsx'
import { Card } from '../../../kit/card.tsx'
import { Select } from '../../../kit/field.tsx'
import { Table } from '../../../kit/table.tsx'
import { Time } from '../../../shared/time.tsx'
import { useData } from '../../data.ts'
import { usePages } from '../../pages.ts'
import { Listed } from '../../parts/listed.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { useSession } from '../../session.tsx'
import { useDashboardWords } from '../../words.ts'
import { SettingsPage } from '../settings-page.tsx'
import { Factors } from './factors.tsx'
import { ProfileSettings } from './profile.tsx'
import { browserOf, Sessions } from './sessions.tsx'
import { useSecurityWords } from './words.ts'

/** The user's own password, factors, sessions and log-ins. */
export function You() {
  const { nav } = useDashboardWords()
  const data = useData<Security>('security')
  return (
    <SettingsPage title={nav['settings/you']}>
      <ProfileSettings />
      <Loaded data={data}>{security => <Factors security={security} onChange={data.set} />}</Loaded>
      <Sessions />
      <SignIns />
    </SettingsPage>
  )
}

function SignIns() {
  const words = useSecurityWords()
  const { session } = useSession()
  const [whose, setWhose] = useState<'own' | 'all'>('own')
  const pages = usePages<SignIn>(whose === 'all' ? 'sign-ins?' : 'security/sign-ins?')
  return (
    <Card title={words.signIns}>
      <p class="secondary">{words.signInsMore}</p>
      {session.user.is_owner && (
        <Select
          label={words.whose}
          value={whose}
          options={[
            ['own', words.own],
            ['all', words.everybody],
          ]}
          onChoose={setWhose}
        />
      )}
      <Listed pages={pages}>
        {rows => (
          <Table
            caption={words.signIns}
            columns={[
              {
                title: words.when,
                kind: 'wraps',
                cell: (row, folded) => (
                  <>
                    <Time at={row.at} />
                    {folded}
                  </>
                ),
              },
              {
                title: words.name,
                folds: 'phone',
                below: 'plain',
                cell: ({ name }) => <span class="cut clipped">{name || '–'}</span>,
              },
              {
                title: words.outcome,
                cell: ({ outcome }) => <Badge tone={outcome === 'signed_in' ? 'ok' : 'no'}>{words.outcomes[outcome]}</Badge>,
              },
              { title: words.method, folds: 'tablet', below: 'plain', cell: ({ method }) => words.methods[method] ?? method },
              { title: words.network, folds: 'tablet', below: 'plain', cell: ({ network }) => <code>{network || '–'}</code> },
              { title: words.browser, folds: 'tablet', below: 'plain', cell: ({ agent }) => browserOf(agent) },
            ]}
            rows={rows}
            keyOf={row => `${row.at} ${row.name} ${row.outcome} ${row.network}`}
          />
        )}
      </Listed>
    </Card>
  )
}
