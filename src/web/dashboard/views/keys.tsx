import { useState } from 'preact/hooks'
import type { ApiKey } from '../../../dashboard/settings-schema.ts'
import { Badge } from '../../shared/badge.tsx'
import { Button } from '../../shared/button.tsx'
import { Empty } from '../../shared/empty.tsx'
import { Icon } from '../../shared/icons.tsx'
import { Table } from '../../shared/table.tsx'
import { Time } from '../../shared/time.tsx'
import { Confirm } from '../confirm.tsx'
import { useData } from '../data.ts'
import { Loaded } from '../loaded.tsx'
import { Page } from '../page.tsx'
import { goTo, hrefTo } from '../route.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { CreateKeyDialog } from './create-key.tsx'
import { RollKeyDialog } from './roll-key.tsx'

const TONES = { active: 'ok', expired: 'wait', revoked: 'neutral' } as const

type Open = { kind: 'create' } | { kind: 'roll' | 'revoke'; key: ApiKey }

export function Keys() {
  const words = useDashboardWords().keys
  const { tenant, environment, inTenant } = usePlace()
  const { call } = useSession()
  const data = useData<{ data: ApiKey[] }>(inTenant('keys'))
  const [open, setOpen] = useState<Open>()
  const close = () => {
    setOpen(undefined)
    data.reload()
  }
  const create = (
    <Button kind="primary" onClick={() => setOpen({ kind: 'create' })}>
      <Icon name="plus" />
      {words.create}
    </Button>
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
              {words.empty}
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
            // To where it is listed.
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
          onConfirm={async () => {
            await call(inTenant(`keys/${open.key.id}`), { method: 'DELETE' })
            close()
          }}
        >
          {words.revokeMore}
        </Confirm>
      )}
    </Page>
  )
}

/** What a key without a label is called by. */
export const nameOf = ({ label, prefix }: ApiKey): string => label || prefix

function KeyList({ keys, onOpen }: { keys: readonly ApiKey[]; onOpen: (open: Open) => void }) {
  const words = useDashboardWords().keys
  const { never } = useDashboardWords()
  const [showsEnded, setShowsEnded] = useState(false)
  const ended = keys.filter(({ status }) => status !== 'active').length
  const rows = showsEnded ? keys : keys.filter(({ status }) => status === 'active')
  return (
    <>
      <Table
        caption={words.caption}
        columns={[
          {
            title: words.label,
            kind: 'wraps',
            cell: key => (
              <>
                {key.label ? <strong>{key.label}</strong> : <span class="secondary">{words.noLabel}</span>}
                <code class="below">{key.prefix}…</code>
                <Below apiKey={key} />
              </>
            ),
          },
          { title: <span class="minor">{words.begins}</span>, cell: key => <code class="minor">{key.prefix}…</code> },
          { title: <span class="extra">{words.may}</span>, cell: key => <Scopes scopes={key.scopes} /> },
          {
            title: <span class="minor">{words.status}</span>,
            cell: key => (
              <span class="minor">
                <KeyBadge status={key.status} />
              </span>
            ),
          },
          {
            title: <span class="extra">{words.createdAt}</span>,
            cell: key => (
              <span class="extra">
                <Time at={key.created_at} />
              </span>
            ),
          },
          {
            title: <span class="minor">{words.expires}</span>,
            cell: key => <span class="minor">{key.expires_at ? <Time at={key.expires_at} /> : never}</span>,
          },
          {
            title: <span class="only-heard">{words.actions}</span>,
            kind: 'number',
            cell: key => key.status === 'active' && <KeyActions apiKey={key} onOpen={onOpen} />,
          },
        ]}
        rows={rows}
        keyOf={key => key.id}
      />
      {ended > 0 && (
        <div>
          <Button kind="quiet" onClick={() => setShowsEnded(!showsEnded)}>
            {showsEnded ? words.hideEnded : words.ended(ended)}
          </Button>
        </div>
      )}
    </>
  )
}

/** What a narrow screen has no columns for. */
function Below({ apiKey: { scopes, status, created_at, expires_at } }: { apiKey: ApiKey }) {
  const words = useDashboardWords()
  return (
    <>
      <span class="below extras">
        {words.keys.may}: {scopes.map(scope => words.keys.scopes[scope].title).join(', ')}
      </span>
      <span class="below extras">
        {words.keys.createdAt}: <Time at={created_at} />
      </span>
      <span class="below">
        {words.keys.expires}: {expires_at ? <Time at={expires_at} /> : words.never}
      </span>
      <span class="below">
        <KeyBadge status={status} />
      </span>
    </>
  )
}

function KeyBadge({ status }: Pick<ApiKey, 'status'>) {
  return <Badge tone={TONES[status]}>{useDashboardWords().keys.statuses[status]}</Badge>
}

function Scopes({ scopes }: Pick<ApiKey, 'scopes'>) {
  const words = useDashboardWords().keys.scopes
  return (
    <span class="extra" title={scopes.map(scope => words[scope].title).join(', ')}>
      {scopes.map(scope => words[scope].short).join(', ')}
    </span>
  )
}

function KeyActions({ apiKey: key, onOpen }: { apiKey: ApiKey; onOpen: (open: Open) => void }) {
  const words = useDashboardWords().keys
  return (
    <span class="row-actions">
      <button
        type="button"
        class="row-button"
        aria-label={`${words.roll}: ${nameOf(key)}`}
        onClick={() => onOpen({ kind: 'roll', key })}
      >
        {words.roll}
      </button>
      <button
        type="button"
        class="row-button danger"
        aria-label={`${words.revoke}: ${nameOf(key)}`}
        onClick={() => onOpen({ kind: 'revoke', key })}
      >
        {words.revoke}
      </button>
    </span>
  )
}
