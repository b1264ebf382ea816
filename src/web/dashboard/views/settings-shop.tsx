import { useState } from 'preact/hooks'
import type { ChangeTenant, Tenant } from '../../../dashboard/schema.ts'
import { Button } from '../../shared/button.tsx'
import { Card } from '../../shared/card.tsx'
import { Field, Select } from '../../shared/field.tsx'
import { Notice } from '../../shared/notice.tsx'
import { type Action, useAction } from '../action.ts'
import { type Data, useData } from '../data.ts'
import { useFormat } from '../format.ts'
import { Loaded } from '../loaded.tsx'
import { Problem } from '../problem.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'

const PLANS = ['trial', 'standard', 'large'] as const
const RETENTION_DAYS_MAX = 3650
const QUOTA_MAX = 10_000_000

export function ShopSettings() {
  const { tenant } = usePlace()
  const data = useData<{ data: Tenant[] }>('tenants')
  return (
    <Loaded data={data}>
      {({ data: tenants }) => {
        const own = tenants.find(({ id }) => id === tenant.id)
        return own && <Shop tenant={own} tenants={data} />
      }}
    </Loaded>
  )
}

type ShopProps = { tenant: Tenant; tenants: Data<{ data: Tenant[] }> }

function Shop({ tenant, tenants }: ShopProps) {
  const { session } = useSession()
  return (
    <>
      <Name tenant={tenant} tenants={tenants} />
      <Quota tenant={tenant} tenants={tenants} />
      <Retention tenant={tenant} tenants={tenants} />
      <AppSchemes tenant={tenant} tenants={tenants} />
      {session.user.is_owner && <NewShop tenants={tenants} />}
    </>
  )
}

/** Saves a part of the tenant; says so when it is done. */
function useChange({ tenant, tenants }: ShopProps): Action<[ChangeTenant]> & { isSaved: boolean } {
  const { call, renew } = useSession()
  const [isSaved, setIsSaved] = useState(false)
  const action = useAction(async (change: ChangeTenant) => {
    setIsSaved(false)
    const changed = await call<Tenant>(`tenants/${tenant.id}`, { method: 'PUT', body: change })
    tenants.set({ data: tenants.value?.data.map(each => (each.id === changed.id ? changed : each)) ?? [changed] })
    setIsSaved(true)
    if (change.name !== undefined) await renew()
  })
  return { ...action, isSaved }
}

function Outcome({ change }: { change: ReturnType<typeof useChange> }) {
  const words = useDashboardWords()
  return (
    <>
      <Problem of={change.problem} />
      <p role="status">{change.isSaved && !change.isBusy && <Notice tone="ok">{words.saved}</Notice>}</p>
    </>
  )
}

function Name(props: ShopProps) {
  const words = useDashboardWords()
  const [name, setName] = useState(props.tenant.name)
  const change = useChange(props)
  return (
    <Card title={words.settings.shop}>
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          change.run({ name: name.trim() })
        }}
      >
        <Field
          label={words.settings.name}
          hint={words.settings.nameHint}
          required
          maxLength={100}
          value={name}
          onInput={event => setName(event.currentTarget.value)}
        />
        <Outcome change={change} />
        <Save change={change} isChanged={name.trim() !== props.tenant.name} />
      </form>
    </Card>
  )
}

function Save({ change, isChanged }: { change: ReturnType<typeof useChange>; isChanged: boolean }) {
  const words = useDashboardWords()
  return (
    <div>
      <Button type="submit" busy={change.isBusy} disabled={!isChanged}>
        {words.save}
      </Button>
    </div>
  )
}

function Quota(props: ShopProps) {
  const words = useDashboardWords()
  const { session } = useSession()
  const { number } = useFormat()
  const { plan, daily_quota, quota_override } = props.tenant
  const [chosen, setChosen] = useState(plan)
  const [override, setOverride] = useState(textOf(quota_override))
  const change = useChange(props)
  const wanted = numberOf(override, QUOTA_MAX)
  const now = <p class="figure-line">{words.settings.quotaNow(number(daily_quota))}</p>
  if (!session.user.is_owner) {
    return (
      <Card title={words.settings.quota}>
        {now}
        <p class="hint">{words.ownersOnly}</p>
      </Card>
    )
  }
  return (
    <Card title={words.settings.quota}>
      {now}
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          if (wanted !== undefined) change.run({ plan: chosen, quota_override: wanted })
        }}
      >
        <Select
          label={words.settings.plan}
          value={chosen}
          onChange={event => setChosen(PLANS.find(each => each === event.currentTarget.value) ?? plan)}
        >
          {PLANS.map(each => (
            <option key={each} value={each}>
              {words.settings.plans[each]}
            </option>
          ))}
        </Select>
        <Field
          label={words.settings.override}
          hint={words.settings.overrideHint}
          inputMode="numeric"
          problem={wanted === undefined && words.settings.numberProblem(number(QUOTA_MAX))}
          value={override}
          onInput={event => setOverride(event.currentTarget.value)}
        />
        <Outcome change={change} />
        <Save change={change} isChanged={wanted !== undefined && (chosen !== plan || wanted !== quota_override)} />
      </form>
    </Card>
  )
}

function Retention(props: ShopProps) {
  const words = useDashboardWords().settings
  const { number } = useFormat()
  const { retention_days } = props.tenant
  const [days, setDays] = useState(textOf(retention_days))
  const change = useChange(props)
  const wanted = numberOf(days, RETENTION_DAYS_MAX)
  return (
    <Card title={words.retention}>
      <p class="secondary">{words.retentionMore}</p>
      <p class="figure-line">{retention_days === null ? words.retentionOff : words.retentionNow(retention_days)}</p>
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          if (wanted !== undefined) change.run({ retention_days: wanted })
        }}
      >
        <Field
          label={words.retentionDays}
          hint={words.retentionHint}
          inputMode="numeric"
          problem={wanted === undefined && words.numberProblem(number(RETENTION_DAYS_MAX))}
          value={days}
          onInput={event => setDays(event.currentTarget.value)}
        />
        <Outcome change={change} />
        <Save change={change} isChanged={wanted !== undefined && wanted !== retention_days} />
      </form>
    </Card>
  )
}

function AppSchemes(props: ShopProps) {
  const words = useDashboardWords().settings
  const saved = props.tenant.app_schemes
  const [text, setText] = useState(saved.join(', '))
  const change = useChange(props)
  const names = text.split(/[\s,]+/).filter(name => name !== '')
  return (
    <Card title={words.apps}>
      <p class="secondary">{words.appsMore}</p>
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          change.run({ app_schemes: names })
        }}
      >
        <Field
          label={words.appSchemes}
          hint={words.appSchemesHint}
          autoCapitalize="none"
          spellcheck={false}
          maxLength={400}
          value={text}
          onInput={event => setText(event.currentTarget.value)}
        />
        <Outcome change={change} />
        <Save change={change} isChanged={names.join() !== saved.join()} />
      </form>
    </Card>
  )
}

const textOf = (value: number | null): string => (value === null ? '' : String(value))

/** A whole number, null for nothing, undefined for anything else. */
function numberOf(text: string, max: number): number | null | undefined {
  if (text.trim() === '') return null
  const value = Number(text)
  return /^\d+$/.test(text.trim()) && value <= max ? value : undefined
}

function NewShop({ tenants }: Pick<ShopProps, 'tenants'>) {
  const words = useDashboardWords()
  const { call, renew } = useSession()
  const [name, setName] = useState('')
  const create = useAction(async () => {
    await call('tenants', { method: 'POST', body: { name: name.trim() } })
    setName('')
    tenants.reload()
    await renew()
  })
  return (
    <Card title={words.settings.shops}>
      <p class="secondary">{words.settings.shopsMore}</p>
      <ul class="plain-list">
        {tenants.value?.data.map(each => (
          <li key={each.id}>
            {each.name} <code class="hint">{each.id}</code>
          </li>
        ))}
      </ul>
      <form class="inline-form" onSubmit={create.submit}>
        <Field
          label={words.settings.newShop}
          required
          maxLength={100}
          value={name}
          onInput={event => setName(event.currentTarget.value)}
        />
        <Button type="submit" busy={create.isBusy}>
          {words.entrance.firstShopDo}
        </Button>
      </form>
      <Problem of={create.problem} />
    </Card>
  )
}
