import { useState } from 'preact/hooks'
import type { ApiKey } from '../../../../dashboard/developers/keys/schema.ts'
import { Badge } from '../../../kit/badge.tsx'
import { Button } from '../../../kit/button.tsx'
import { Empty } from '../../../kit/empty.tsx'
import { Icon } from '../../../kit/icons.tsx'
import { Table } from '../../../kit/table.tsx'
import { Time, useNow } from '../../../shared/time.tsx'
import { useData } from '../../data.ts'
import { useFormat } from '../../format.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { useEnded } from '../../parts/ended.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { goTo, hrefTo, useRoute } from '../../route.tsx'
import { ForEditors, useMayChange, usePlace, useSession } from '../../session.tsx'
import { useDashboardWords } from '../../words.ts'
import { CreateKeyDialog } from './create-key.tsx'
import { nameOf, RollKeyDialog } from './roll-key.tsx'
import { useKeysWords } from './words.ts'

const TONES = { active: 'ok', expired: 'wait', revoked: 'neutral' } as const

type Open = { kind: 'create' } | { kind: 'roll' | 'revoke'; key: ApiKey }

export function Keys() {
  const words = useKeysWords()
  const { tenant, environment, inTenant } = usePlace()
  const { call } = useSession()
  const data = useData<{ data: ApiKey[] }>(inTenant('keys'))
  const { search } = useRoute()
  const mayChange = useMayChange()
  const [open, setOpen] = useState<Open | undefined>(
    mayChange && search.get('open') === 'create' ? { kind: 'create' } : undefined,
  )
  const close = () => {
    setOpen(undefined)
    data.reload()
  }
  const create = (
    <ForEditors>
      <Button kind="primary" onClick={() => setOpen({ kind: 'create' })}>
        <Icon name="plus" />
        {words.create}
      </Button>
    </ForEditors>
  )
  const own = data.value?.data.filter(key => key.environment === environment)
  return (
    <Page title={words.title} intro={words.intro} actions={own?.length !== 0 && create}>
      <Loaded data={data}>
        {() =>
          own?.length === 0 ? (
            <Empty
              title={words.emptyTitle[environment]}
              action={create}
              curl={`vidimus key create --tenant ${tenant.id} --env ${environment}`}
            >
              {words.empty[environment]}
            </Empty>
          ) : (
            <KeyList keys={own ?? []} onOpen={setOpen} />
          )
        }
      </Loaded>
      {open?.kind === 'create' && (
        <CreateKeyDialog
          onClose={created => {
            close()
            if (created && created.environment !== environment) goTo(hrefTo('keys', { environment: created.environment }))
          }}
        />
      )}
      {open?.kind === 'roll' && <RollKeyDialog old={open.key} onClose={close} />}
      {open?.kind === 'revoke' && (
        <Confirm
          title={words.revokeTitle(nameOf(open.key))}
          name={nameOf(open.key)}
          verb={words.revokeDo}
          onClose={close}
          onConfirm={() => call(inTenant(`keys/${open.key.id}`), { method: 'DELETE' }).then(close)}
        >
          {words.revokeMore}
        </Confirm>
      )}
    </Page>
  )
}

function KeyList({ keys, onOpen }: { keys: readonly ApiKey[]; onOpen: (open: Open) => void }) {
  const mayChange = useMayChange()
  const words = useKeysWords()
  const { actions, never } = useDashboardWords()
  const { time } = useFormat()
  const { rows, toggle } = useEnded(keys, ({ status }) => status !== 'active', {
    show: words.ended,
    hide: words.hideEnded,
  })
  return (
    <>
      <Table
        caption={words.caption}
        columns={[
          {
            title: words.label,
            kind: 'wraps',
            cell: ({ label }, folded) => (
              <>
                {label ? <strong>{label}</strong> : <span class="secondary">{words.noLabel}</span>}
                {folded}
              </>
            ),
          },
          {
            title: words.begins,
            folds: 'phone',
            below: 'plain',
            cell: ({ prefix, created_at }) => <code title={`${words.createdAt} ${time(created_at)}`}>{prefix}…</code>,
          },
          {
            title: words.may,
            kind: 'wraps',
            folds: 'tablet',
            below: 'titled',
            cell: ({ scopes }) => (
              <span title={scopes.map(scope => words.scopes[scope].title).join(', ')}>
                {scopes.map(scope => words.scopes[scope].short).join(', ')}
              </span>
            ),
            long: ({ scopes }) => scopes.map(scope => words.scopes[scope].title).join(', '),
          },
          {
            title: words.status,
            folds: 'phone',
            below: 'last',
            cell: ({ status }) => <Badge tone={TONES[status]}>{words.statuses[status]}</Badge>,
          },
          {
            title: words.lastUsed,
            kind: 'wraps',
            folds: 'tablet',
            below: 'titled',
            cell: ({ last_used_at }) => (last_used_at ? <LastUse at={last_used_at} /> : never),
          },
          {
            title: words.expires,
            folds: 'phone',
            below: 'titled',
            cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} /> : never),
          },
        ]}
        rows={rows}
        keyOf={key => key.id}
        actions={
          mayChange
            ? {
                title: actions,
                label: (key, verb) => `${verb}: ${nameOf(key)}`,
                of: key =>
                  key.status === 'active'
                    ? [
                        { verb: words.roll, act: () => onOpen({ kind: 'roll', key }) },
                        { verb: words.revoke, isDangerous: true, act: () => onOpen({ kind: 'revoke', key }) },
                      ]
                    : [],
              }
            : undefined
        }
      />
      {toggle}
    </>
  )
}

/** The service keeps the hour of the last use, not the minute. */
function LastUse({ at }: { at: string }) {
  const words = useKeysWords()
  const { hour } = useFormat()
  const { day, from, to } = hour(at, useNow())
  return (
    <time dateTime={at} title={at}>
      <span class="unbroken">{day}</span> {words.usedBetween(from, to)}
    </time>
  )
}
