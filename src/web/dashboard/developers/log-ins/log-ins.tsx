import { useState } from 'preact/hooks'
import type { ClientWithSecret } from '../../../../oidc/clients.ts'
import type { Client } from '../../../../oidc/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Empty } from '../../../kit/empty.tsx'
import { Icon } from '../../../kit/icons.tsx'
import { Table } from '../../../kit/table.tsx'
import { Time } from '../../../shared/time.tsx'
import { useData } from '../../data.ts'
import { Confirm, ConfirmButton } from '../../parts/confirm.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { ForEditors, useMayChange, usePlace, useSession } from '../../session.tsx'
import { useTemplates, useTemplateTitle } from '../../template-names.ts'
import { useDashboardWords } from '../../words.ts'
import { EditClient, MadeClient } from './edit-client.tsx'
import { TryLogIn } from './try-log-in.tsx'
import { useLogInsWords } from './words.ts'

type Open = { kind: 'add' } | { kind: 'change' | 'roll' | 'remove'; client: Client }

/** Programs where people log in with a wallet. */
export function LogIns() {
  const words = useLogInsWords()
  const { call } = useSession()
  const { tenant, environment, inTenant } = usePlace()
  const data = useData<{ data: Client[] }>(inTenant('clients'))
  const [open, setOpen] = useState<Open>()
  const close = () => {
    setOpen(undefined)
    data.reload()
  }
  const add = (
    <ForEditors>
      <Button kind="primary" onClick={() => setOpen({ kind: 'add' })}>
        <Icon name="plus" />
        {words.add}
      </Button>
    </ForEditors>
  )
  const own = data.value?.data.filter(client => client.environment === environment)
  const redirect = 'https://shop.example/callback'
  return (
    <Page title={words.title} intro={words.intro} actions={own?.length !== 0 && add}>
      <TryLogIn clients={own} onDone={data.reload} />
      <Loaded data={data}>
        {() =>
          own?.length === 0 ? (
            <Empty
              title={words.emptyTitle[environment]}
              action={add}
              curl={`vidimus client create --tenant ${tenant.id} --env ${environment} --name Shop --template age_over_18 --redirect-uri ${redirect}`}
            >
              {words.empty}
            </Empty>
          ) : (
            <>
              <ClientList clients={own ?? []} onOpen={setOpen} />
              <SigningKeys />
            </>
          )
        }
      </Loaded>
      {open?.kind === 'add' && <EditClient onClose={close} />}
      {open?.kind === 'change' && <EditClient old={open.client} onClose={close} />}
      {open?.kind === 'roll' && <RollSecret client={open.client} onClose={close} />}
      {open?.kind === 'remove' && (
        <Confirm
          title={words.removeTitle(open.client.name)}
          name={open.client.name}
          verb={words.remove}
          onClose={close}
          onConfirm={() => call(inTenant(`clients/${open.client.id}`), { method: 'DELETE' }).then(close)}
        >
          {words.removeMore}
        </Confirm>
      )}
    </Page>
  )
}

function ClientList({ clients, onOpen }: { clients: readonly Client[]; onOpen: (open: Open) => void }) {
  const words = useLogInsWords()
  const { actions, never } = useDashboardWords()
  const titleOf = useTemplateTitle(useTemplates())
  const mayChange = useMayChange()
  const refusalOf = ({ last_refusal }: Client): string => {
    if (!last_refusal) return ''
    const { reason, redirect_uri } = last_refusal
    const said = reason === 'redirect_uri_mismatch' ? words.refusals.redirect_uri_mismatch : words.refusals.other(reason)
    return redirect_uri === undefined ? said : `${said}: ${redirect_uri}`
  }
  return (
    <Table
      caption={words.caption}
      columns={[
        {
          title: words.name,
          kind: 'wraps',
          cell: ({ name, last_refusal, ...rest }, folded) => (
            <>
              <strong>{name}</strong>
              {last_refusal && (
                <p class="hint breaks">
                  <Time at={last_refusal.at} />: {refusalOf({ name, last_refusal, ...rest })}
                </p>
              )}
              {folded}
            </>
          ),
        },
        { title: words.values.id, folds: 'tablet', below: 'plain', cell: ({ id }) => <code>{id}</code> },
        {
          title: words.templates,
          kind: 'wraps',
          folds: 'tablet',
          below: 'titled',
          cell: ({ templates }) => templates.map(titleOf).join(', '),
        },
        {
          title: words.lastLogIn,
          folds: 'phone',
          below: 'titled',
          cell: ({ last_login_at }) => (last_login_at ? <Time at={last_login_at} /> : never),
        },
      ]}
      rows={clients}
      keyOf={({ id }) => id}
      actions={
        mayChange
          ? {
              title: actions,
              label: ({ name }, verb) => `${verb}: ${name}`,
              of: client => [
                { verb: words.change, act: () => onOpen({ kind: 'change', client }) },
                client.auth !== 'none' && { verb: words.roll, act: () => onOpen({ kind: 'roll', client }) },
                { verb: words.remove, isDangerous: true, act: () => onOpen({ kind: 'remove', client }) },
              ],
            }
          : undefined
      }
    />
  )
}

function RollSecret({ client, onClose }: { client: Client; onClose: () => void }) {
  const words = useLogInsWords()
  const { call } = useSession()
  const { inTenant } = usePlace()
  const [made, setMade] = useState<ClientWithSecret>()
  const path = inTenant(`clients/${client.id}/secret`)
  const roll = async () => setMade(await call<ClientWithSecret>(path, { method: 'POST', body: { old_expires: '24h' } }))
  return (
    <FormDialog
      title={words.rollTitle(client.name)}
      intro={words.rollMore}
      verb={words.roll}
      onSubmit={roll}
      onClose={onClose}
      result={made && <MadeClient made={made} onClose={onClose} />}
    />
  )
}

/** Owners turn them; they turn by themselves too. */
function SigningKeys() {
  const words = useLogInsWords()
  const { call, session } = useSession()
  const { environment, inTenant } = usePlace()
  if (!session.user.is_owner) return null
  const body = { environment, drop_old: false }
  return (
    <section class="stack tight">
      <h2>{words.keys}</h2>
      <p class="secondary">{words.keysMore}</p>
      <div>
        <ConfirmButton
          title={words.turnTitle}
          verb={words.turn}
          onConfirm={() => call(inTenant('log-in-keys/turn'), { method: 'POST', body })}
        >
          {words.turnMore}
        </ConfirmButton>
      </div>
    </section>
  )
}
