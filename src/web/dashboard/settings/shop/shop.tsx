import { useState } from 'preact/hooks'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Field, Select } from '../../../kit/field.tsx'
import { useAction } from '../../action.ts'
import { useEntranceWords } from '../../entrance/words.ts'
import { useFormat } from '../../format.ts'
import { Problem } from '../../parts/problem.tsx'
import { useRoute } from '../../route.tsx'
import { useSession } from '../../session.tsx'
import { useDashboardWords } from '../../words.ts'
import { SettingsPage } from '../settings-page.tsx'
import { ShopLook } from './look.tsx'
import { LoadedTenant, type ShopProps, TenantForm } from './tenant-form.tsx'
import { useShopWords } from './words.ts'

const PLANS = ['trial', 'standard', 'large'] as const
const RETENTION_DAYS_MAX = 3650
const QUOTA_MAX = 10_000_000

export function ShopSettings() {
  const { nav } = useDashboardWords()
  const { session } = useSession()
  const { search } = useRoute()
  return (
    <SettingsPage title={nav.shop}>
      <LoadedTenant>
        {shop => (
          <>
            <Name {...shop} />
            <ShopLook key={shop.tenant.id} />
            <Retention {...shop} />
            {/* One shop on its own machine needs no shares; who uses up its limit is led here. */}
            {(session.tenants.length > 1 || search.has('quota')) && <Quota {...shop} />}
            {session.user.is_owner && <NewShop tenants={shop.tenants} />}
          </>
        )}
      </LoadedTenant>
    </SettingsPage>
  )
}

function Name(shop: ShopProps) {
  const words = useShopWords()
  const { ownersOnly } = useDashboardWords()
  const { session } = useSession()
  const [text, setText] = useState(shop.tenant.name)
  const name = text.trim()
  return (
    <Card>
      {session.user.is_owner ? (
        <TenantForm {...shop} change={{ name }} isChanged={name !== shop.tenant.name}>
          <Field label={words.name} hint={words.nameHint} required maxLength={100} value={text} onText={setText} />
        </TenantForm>
      ) : (
        <>
          <p>{shop.tenant.name}</p>
          <p class="hint">{ownersOnly}</p>
        </>
      )}
    </Card>
  )
}

function Quota(shop: ShopProps) {
  const words = useShopWords()
  const { ownersOnly } = useDashboardWords()
  const { session } = useSession()
  const { number } = useFormat()
  const { daily_quota, quota_override } = shop.tenant
  const [plan, setPlan] = useState(shop.tenant.plan)
  const [override, setOverride] = useState(textOf(quota_override))
  const wanted = numberOf(override, QUOTA_MAX)
  return (
    <Card title={words.quota}>
      <p class="large">{words.quotaNow(number(daily_quota))}</p>
      {session.user.is_owner ? (
        <TenantForm
          {...shop}
          change={wanted !== undefined && { plan, quota_override: wanted }}
          isChanged={plan !== shop.tenant.plan || wanted !== quota_override}
        >
          <Select label={words.plan} value={plan} options={PLANS.map(each => [each, words.plans[each]])} onChoose={setPlan} />
          <NumberField label={words.override} hint={words.overrideHint} max={QUOTA_MAX} value={override} onText={setOverride} />
        </TenantForm>
      ) : (
        <p class="hint">{ownersOnly}</p>
      )}
    </Card>
  )
}

function Retention(shop: ShopProps) {
  const words = useShopWords()
  const { retention_days } = shop.tenant
  const [days, setDays] = useState(textOf(retention_days))
  const wanted = numberOf(days, RETENTION_DAYS_MAX)
  return (
    <Card title={words.retention}>
      <p class="secondary">{words.retentionMore}</p>
      <p class="large">{retention_days === null ? words.retentionOff : words.retentionNow(retention_days)}</p>
      <TenantForm {...shop} change={wanted !== undefined && { retention_days: wanted }} isChanged={wanted !== retention_days}>
        <NumberField
          label={words.retentionDays}
          hint={words.retentionHint}
          max={RETENTION_DAYS_MAX}
          value={days}
          onText={setDays}
        />
      </TenantForm>
    </Card>
  )
}

type NumberProps = { label: string; hint: string; max: number; value: string; onText: (text: string) => void }

function NumberField({ max, value, ...rest }: NumberProps) {
  const words = useShopWords()
  const { number } = useFormat()
  const problem = numberOf(value, max) === undefined && words.numberProblem(number(max))
  return <Field {...rest} inputMode="numeric" problem={problem} value={value} />
}

const textOf = (value: number | null): string => (value === null ? '' : String(value))

/** A whole number, null for an empty text, undefined for any other. */
function numberOf(text: string, max: number): number | null | undefined {
  if (text.trim() === '') return null
  const value = Number(text)
  return /^\d+$/.test(text.trim()) && value <= max ? value : undefined
}

function NewShop({ tenants }: Pick<ShopProps, 'tenants'>) {
  const words = useShopWords()
  const { firstShopDo } = useEntranceWords()
  const { call, renew } = useSession()
  const [name, setName] = useState('')
  const create = useAction(async () => {
    await call('tenants', { method: 'POST', body: { name: name.trim() } })
    setName('')
    tenants.reload()
    await renew()
  })
  return (
    <Card title={words.shops}>
      <p class="secondary">{words.shopsMore}</p>
      <ul class="plain-list">
        {tenants.value?.data.map(each => (
          <li key={each.id}>
            {each.name} <code class="hint">{each.id}</code>
          </li>
        ))}
      </ul>
      <form class="inline-form row" onSubmit={create.submit}>
        <Field label={words.newShop} required maxLength={100} value={name} onText={setName} />
        <Button type="submit" busy={create.isBusy}>
          {firstShopDo}
        </Button>
      </form>
      <Problem of={create.problem} />
    </Card>
  )
}
