import { useState } from 'preact/hooks'
import { Card } from '../../../kit/card.tsx'
import { Field } from '../../../kit/field.tsx'
import { useSession } from '../../session.tsx'
import { SettingsPage } from '../../settings/settings-page.tsx'
import { LoadedTenant, type ShopProps, TenantForm } from '../../settings/shop/tenant-form.tsx'
import { useDashboardWords } from '../../words.ts'
import { Origins } from './origins.tsx'
import { useWebPagesWords } from './words.ts'

/** The shop's own pages and apps: what may ask, and where customers may be sent back to. */
export function WebPages() {
  const { nav } = useDashboardWords()
  return (
    <SettingsPage title={nav['web-pages']}>
      <Origins />
      <LoadedTenant>{shop => <AppSchemes {...shop} />}</LoadedTenant>
    </SettingsPage>
  )
}

function AppSchemes(shop: ShopProps) {
  const words = useWebPagesWords()
  const { ownersOnly } = useDashboardWords()
  const { session } = useSession()
  const listed = shop.tenant.app_schemes.join(', ')
  const [text, setText] = useState(listed)
  const names = text.split(/[\s,]+/).filter(name => name !== '')
  return (
    <Card title={words.apps}>
      <p class="secondary">{words.appsMore}</p>
      {session.user.is_owner ? (
        <TenantForm {...shop} change={{ app_schemes: names }} isChanged={names.join() !== shop.tenant.app_schemes.join()}>
          <Field
            label={words.appSchemes}
            hint={words.appSchemesHint}
            autoCapitalize="none"
            spellcheck={false}
            maxLength={400}
            value={text}
            onText={setText}
          />
        </TenantForm>
      ) : (
        <>
          {listed !== '' && <p>{listed}</p>}
          <p class="hint">{ownersOnly}</p>
        </>
      )}
    </Card>
  )
}
