import { useSession } from '../session.tsx'
import { HealthSettings } from './health/health.tsx'
import { InstallationSettings } from './installation/installation.tsx'
import { PeopleSettings } from './people/people.tsx'
import { You } from './security/security.tsx'
import { ShopSettings } from './shop/shop.tsx'

/** Settings of the user, the shop and the installation, a page each. */
export function Settings({ part }: { part: string }) {
  const { is_owner } = useSession().session.user
  switch (part) {
    case 'you':
    case 'profile':
    case 'security':
      return <You />
    case 'people':
      return is_owner ? <PeopleSettings /> : <ShopSettings />
    case 'installation':
      return is_owner ? <InstallationSettings /> : <ShopSettings />
    case 'health':
      return is_owner ? <HealthSettings /> : <ShopSettings />
    default:
      return <ShopSettings />
  }
}
