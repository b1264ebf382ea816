import { useRef } from 'preact/hooks'
import { Icon, type IconName } from '../kit/icons.tsx'
import { LanguageSwitch } from '../kit/language-switch.tsx'
import { HAS_SANDBOX, serviceUrl } from '../shared/base.ts'
import { useLanguage } from '../shared/language.ts'
import { useAction } from './action.ts'
import { Problem } from './parts/problem.tsx'
import { hrefTo, Link, useRoute } from './route.tsx'
import { usePlace, useSession } from './session.tsx'
import { useDashboardWords } from './words.ts'

const SHOP = {
  overview: 'chart',
  'go-live': 'next',
  verifications: 'list',
  tills: 'device',
  templates: 'document',
} as const satisfies Record<string, IconName>

/** Folded, because a shop without software needs them seldom. */
const GROUPS = {
  developers: { icon: 'key', places: ['keys', 'webhooks', 'web-pages', 'log-ins'] },
  settings: {
    icon: 'settings',
    places: ['settings/you', 'settings', 'settings/people', 'trust', 'audit', 'settings/installation', 'settings/health'],
  },
} as const satisfies Record<string, { icon: IconName; places: readonly string[] }>

type GroupName = keyof typeof GROUPS

const FOR_OWNERS: readonly string[] = ['settings/people', 'settings/installation', 'settings/health']
/** Views that belong to an entry of the menu. */
const PARENTS: Readonly<Record<string, string>> = { 'template-editor': 'templates' }

type Props = { isOpen: boolean; onClose: () => void }

export function Rail({ isOpen, onClose }: Props) {
  const words = useDashboardWords()
  const { page } = useRoute()
  const { session } = useSession()
  const { tenant } = usePlace()
  const rail = useRef<HTMLElement>(null)
  const current = PARENTS[page] ?? page
  return (
    <nav
      id="rail"
      class={`rail${isOpen ? ' open' : ''}`}
      aria-label={words.main}
      ref={rail}
      onKeyDown={event => event.key === 'Escape' && onClose()}
    >
      <ul>
        {(Object.keys(SHOP) as (keyof typeof SHOP)[])
          .filter(name => name !== 'go-live' || !tenant.is_live)
          .map(name => (
            <Entry key={name} place={name} icon={SHOP[name]} name={words.nav[name]} current={current} />
          ))}
        {(Object.keys(GROUPS) as GroupName[]).map(name => (
          <Group key={name} name={name} current={current} isOwner={session.user.is_owner} />
        ))}
      </ul>
      <Links />
      <Account />
    </nav>
  )
}

/** One group is open at a time: browsers close the others of the same name. */
function Group({ name, current, isOwner }: { name: GroupName; current: string; isOwner: boolean }) {
  const { nav } = useDashboardWords()
  const { icon, places } = GROUPS[name]
  const shown = places.filter(place => isOwner || !FOR_OWNERS.includes(place))
  return (
    <li>
      <details name="menu" open={shown.some(place => place === current)}>
        <summary>
          <Icon name={icon} />
          {nav[name]}
        </summary>
        <ul>
          {shown.map(place => (
            <Entry key={place} place={place} name={place === 'settings' ? nav.shop : nav[place]} current={current} />
          ))}
        </ul>
      </details>
    </li>
  )
}

function Entry({ place, icon, name, current }: { place: string; icon?: IconName; name: string; current: string }) {
  return (
    <li>
      <Link href={hrefTo(place)} aria-current={place === current ? 'page' : undefined}>
        {icon && <Icon name={icon} />}
        {name}
      </Link>
    </li>
  )
}

/** Pages of the service beside the dashboard. */
function Links() {
  const words = useDashboardWords()
  const language = useLanguage()
  const links = [
    [`docs?language=${language}`, words.links.handbook],
    ['docs/api', words.links.api],
    ['till', words.links.till],
    ...(HAS_SANDBOX ? [['sandbox', words.links.sandbox] as const] : []),
  ] as const
  return (
    <ul class="links">
      {links.map(([path, name]) => (
        <li key={path}>
          <a href={serviceUrl(path)} target="_blank" rel="noopener">
            {name}
          </a>
        </li>
      ))}
    </ul>
  )
}

function Account() {
  const words = useDashboardWords()
  const { session, leave } = useSession()
  const logOut = useAction(() => leave('POST', 'logout'))
  return (
    <div class="account">
      <LanguageSwitch />
      <Link href={hrefTo('settings/you')}>
        <Icon name="person" />
        <span class="cut clipped">{session.user.name}</span>
      </Link>
      <button type="button" aria-disabled={logOut.isBusy || undefined} onClick={() => logOut.run()}>
        <Icon name="leave" />
        {words.logOut}
      </button>
      <Problem of={logOut.problem} />
    </div>
  )
}
