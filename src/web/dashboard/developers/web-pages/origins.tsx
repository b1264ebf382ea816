import { useState } from 'preact/hooks'
import type { Origin } from '../../../../dashboard/settings/shop/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Field } from '../../../kit/field.tsx'
import { Table } from '../../../kit/table.tsx'
import { Time } from '../../../shared/time.tsx'
import { useAction } from '../../action.ts'
import { useData } from '../../data.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useMayChange, usePlace, useSession } from '../../session.tsx'
import { useDashboardWords } from '../../words.ts'
import { useWebPagesWords } from './words.ts'

type Listed = { data: Origin[] }

/** The origins that may ask through the browser, of the environment that is shown. */
export function Origins() {
  const words = useWebPagesWords()
  const all = useDashboardWords()
  const { environment, inTenant } = usePlace()
  const { session, call } = useSession()
  const path = inTenant(`origins?environment=${environment}`)
  const data = useData<Listed>(path)
  const [removing, setRemoving] = useState<string>()
  const isEditor = useMayChange()
  const mayChange = isEditor && (environment === 'test' || session.user.is_owner)
  const change = async (method: 'POST' | 'DELETE', origin: string) =>
    data.set(await call<Listed>(path, { method, body: { origin } }))
  return (
    <Card title={words.origins}>
      <p class="secondary">{words.originsMore(all.environments[environment])}</p>
      <Loaded data={data}>
        {({ data: origins }) =>
          origins.length === 0 ? (
            <p>{words.originsNone}</p>
          ) : (
            <OriginTable origins={origins} onRemove={mayChange ? setRemoving : undefined} />
          )
        }
      </Loaded>
      {mayChange && <AddOrigin key={path} onAdd={origin => change('POST', origin)} />}
      {isEditor && !mayChange && <p class="hint">{all.ownersOnly}</p>}
      {removing !== undefined && (
        <Confirm
          title={words.originRemoveTitle(removing)}
          verb={words.originRemoveDo}
          onClose={() => setRemoving(undefined)}
          onConfirm={() => change('DELETE', removing).then(() => setRemoving(undefined))}
        >
          {words.originRemoveMore}
        </Confirm>
      )}
    </Card>
  )
}

type TableProps = { origins: readonly Origin[]; onRemove: ((origin: string) => void) | undefined }

function OriginTable({ origins, onRemove }: TableProps) {
  const words = useWebPagesWords()
  const { actions } = useDashboardWords()
  return (
    <Table
      caption={words.originsCaption}
      columns={[
        {
          title: words.origin,
          kind: 'wraps',
          cell: ({ origin }, folded) => (
            <>
              <code>{origin}</code>
              {folded}
            </>
          ),
        },
        { title: words.originAdded, folds: 'phone', below: 'titled', cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      rows={origins}
      keyOf={({ origin }) => origin}
      actions={
        onRemove && {
          title: actions,
          label: ({ origin }, verb) => `${verb}: ${origin}`,
          of: ({ origin }) => [{ verb: words.originRemove, isDangerous: true, act: () => onRemove(origin) }],
        }
      }
    />
  )
}

function AddOrigin({ onAdd }: { onAdd: (origin: string) => Promise<void> }) {
  const words = useWebPagesWords()
  const [text, setText] = useState('')
  const [hasProblem, setHasProblem] = useState(false)
  const add = useAction(async () => {
    const origin = text.trim()
    setHasProblem(!isOrigin(origin))
    if (!isOrigin(origin)) return
    await onAdd(origin)
    setText('')
  })
  return (
    <form class="stack" noValidate onSubmit={add.submit}>
      <Field
        label={words.origin}
        hint={words.originHint}
        problem={hasProblem && words.originProblem}
        type="url"
        autoCapitalize="none"
        spellcheck={false}
        maxLength={255}
        value={text}
        onText={setText}
      />
      <Problem of={add.problem} />
      <div>
        <Button type="submit" busy={add.isBusy} disabled={text.trim() === ''}>
          {words.originAdd}
        </Button>
      </div>
    </form>
  )
}

/** The service checks it again. */
function isOrigin(text: string): boolean {
  if (text.startsWith('android:apk-key-hash:')) return true
  const url = URL.parse(text)
  const isLocal = url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  return url?.origin === text && (url.protocol === 'https:' || isLocal)
}
