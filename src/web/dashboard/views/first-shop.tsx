import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../../shared/button.tsx'
import { Field } from '../../shared/field.tsx'
import { Notice } from '../../shared/notice.tsx'
import { useAction } from '../action.ts'
import { Problem } from '../problem.tsx'
import { useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { EntranceFrame } from './entrance-frame.tsx'

/** Without a tenant there is nothing to see: the owner of a new installation makes the first. */
export function FirstShop({ children }: { children: ComponentChildren }) {
  const words = useDashboardWords().entrance
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
  const words = useDashboardWords().entrance
  const { call, renew } = useSession()
  const [name, setName] = useState('')
  const create = useAction(async () => {
    await call('tenants', { method: 'POST', body: { name: name.trim() } })
    await renew()
  })
  return (
    <EntranceFrame title={words.firstShop}>
      <form class="stack" onSubmit={create.submit}>
        <p class="secondary">{words.firstShopMore}</p>
        <Field
          label={words.firstShopName}
          name="organization"
          autocomplete="organization"
          required
          autofocus
          maxLength={100}
          value={name}
          onInput={event => setName(event.currentTarget.value)}
        />
        <Problem of={create.problem} />
        <Button kind="primary" wide type="submit" busy={create.isBusy}>
          {words.firstShopDo}
        </Button>
      </form>
    </EntranceFrame>
  )
}
