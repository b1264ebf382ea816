import { Tabs } from '../../kit/tabs.tsx'
import { Page } from '../parts/page.tsx'
import { goTo, hrefTo } from '../route.tsx'
import { useSession } from '../session.tsx'
import { EuWallets } from './health/eu-wallets.tsx'
import { HealthSettings } from './health/health.tsx'
import { InstallationSettings } from './installation/installation.tsx'
import { PeopleSettings } from './people/people.tsx'
import { ProfileSettings } from './security/profile.tsx'
import { SecuritySettings } from './security/security.tsx'
import { ShopSettings } from './shop/shop.tsx'
import { useSettingsWords } from './words.ts'

const TABS = ['shop', 'profile', 'security', 'people', 'installation', 'health'] as const
const OWNERS: readonly string[] = ['people', 'installation', 'health']

export function Settings({ tab }: { tab: string }) {
  const words = useSettingsWords()
  const { session } = useSession()
  const tabs = TABS.filter(each => session.user.is_owner || !OWNERS.includes(each))
  const chosen = tabs.find(each => each === tab) ?? 'shop'
  return (
    <Page title={words.title} part={words.tabs[chosen]}>
      <Tabs
        label={words.title}
        tabs={tabs.map(key => ({ key, title: words.tabs[key] }))}
        chosen={chosen}
        onChoose={key => goTo(hrefTo(key === 'shop' ? 'settings' : `settings/${key}`), { replace: true })}
      >
        <div class="stack loose settings">
          {chosen === 'shop' && <ShopSettings />}
          {chosen === 'profile' && <ProfileSettings />}
          {chosen === 'security' && <SecuritySettings />}
          {chosen === 'people' && <PeopleSettings />}
          {chosen === 'installation' && <InstallationSettings />}
          {chosen === 'health' && <HealthSettings />}
          {chosen === 'health' && <EuWallets />}
        </div>
      </Tabs>
    </Page>
  )
}
