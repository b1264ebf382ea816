import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Field } from '../../kit/field.tsx'
import { Notice } from '../../kit/notice.tsx'
import { useSession } from '../session.tsx'
import { EntranceForm, EntranceFrame } from './entrance-frame.tsx'
import { useEntranceWords } from './words.ts'

/** A new installation has no tenant: its owner creates the first. */
export function FirstShop({ children }: { children: ComponentChildren }) {
  const words = useEntranceWords()
  const { session } = useSession()
  if (session.tenants.length > 0) return children
  if (session.user.is_owner) return <NameShop />
  return (
    <EntranceFrame title={words.login}>
      <Notice tone="wait">{words.noShop}</Notice>
    </EntranceFrame>
  )
}

function NameShop() {
  const words = useEntranceWords()
  const { call, renew } = useSession()
  const [name, setName] = useState('')
  const create = async () => {
    await call('tenants', { method: 'POST', body: { name: name.trim() } })
    await renew()
  }
  return (
    <EntranceForm title={words.firstShop} intro={words.firstShopMore} verb={words.firstShopDo} onSubmit={create}>
      <Field
        label={words.firstShopName}
        name="organization"
        autocomplete="organization"
        required
        autofocus
        maxLength={100}
        value={name}
        onText={setName}
      />
    </EntranceForm>
  )
}
