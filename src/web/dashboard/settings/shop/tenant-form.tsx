import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ChangeTenant, Tenant } from '../../../../dashboard/settings/shop/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { useAction } from '../../action.ts'
import { type Data, useData } from '../../data.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Saved } from '../../parts/saved.tsx'
import { useMayChange, usePlace, useSession } from '../../session.tsx'
import { useDashboardWords } from '../../words.ts'

export type ShopProps = { tenant: Tenant; tenants: Data<{ data: Tenant[] }> }

/** The settings of the shop in the address. */
export function LoadedTenant({ children }: { children: (shop: ShopProps) => ComponentChildren }) {
  const { tenant } = usePlace()
  const tenants = useData<{ data: Tenant[] }>('tenants')
  return (
    <Loaded data={tenants}>
      {({ data }) => {
        const own = data.find(({ id }) => id === tenant.id)
        return own && children({ tenant: own, tenants })
      }}
    </Loaded>
  )
}

type FormProps = ShopProps & {
  /** Sent to the service; false while the fields are wrong. */
  change: ChangeTenant | false
  isChanged: boolean
  children: ComponentChildren
}

/** Saves one part of the tenant. */
export function TenantForm({ tenant, tenants, change, isChanged, children }: FormProps) {
  const words = useDashboardWords()
  const { call, renew } = useSession()
  const mayChange = useMayChange()
  const [isSaved, setIsSaved] = useState(false)
  const save = useAction(async () => {
    if (!change) return
    setIsSaved(false)
    const changed = await call<Tenant>(`tenants/${tenant.id}`, { method: 'PUT', body: change })
    tenants.set({ data: tenants.value?.data.map(each => (each.id === changed.id ? changed : each)) ?? [changed] })
    setIsSaved(true)
    if (change.name !== undefined) await renew()
  })
  if (!mayChange) return null
  return (
    <form class="stack" onSubmit={save.submit}>
      {children}
      <Saved action={save} isSaved={isSaved} />
      <div>
        <Button type="submit" busy={save.isBusy} disabled={!change || !isChanged}>
          {words.save}
        </Button>
      </div>
    </form>
  )
}
