import { useEffect, useRef, useState } from 'preact/hooks'
import { Choice } from '../kit/field.tsx'
import { Icon, type IconName } from '../kit/icons.tsx'
import { LanguageSwitch } from '../kit/language-switch.tsx'
import { Wordmark } from '../kit/seal.tsx'
import { TestBand } from '../kit/test-band.tsx'
import { HAS_SANDBOX, serviceUrl } from '../shared/base.ts'
import { useAction } from './action.ts'
import { Problem } from './parts/problem.tsx'
import { ENVIRONMENTS, goTo, hrefTo, Link, useRoute } from './route.tsx'
import { usePlace, useSession } from './session.tsx'
import { View } from './view.tsx'
import { useDashboardWords } from './words.ts'

const PLACES = {
  overview: 'chart',
  verifications: 'list',
  keys: 'key',
  devices: 'device',
  templates: 'document',
  webhooks: 'hook',
  'log-ins': 'person',
  trust: 'shield',
  audit: 'ledger',
  settings: 'settings',
} as const satisfies Record<string, IconName>

type PlaceName = keyof typeof PLACES

/** Views that belong to an entry of the menu. */
const PARENTS: Record<string, PlaceName> = { 'template-editor': 'templates', 'go-live': 'overview' }

export function Frame() {
  const words = useDashboardWords()
  const route = useRoute()
  const { tenant, environment } = usePlace()
  const [isOpen, setIsOpen] = useState(false)
  useEffect(() => setIsOpen(false), [route.view, route.id])
  return (
    <div class={`frame ${environment}`}>
      <a class="skip" href="#content">
        {words.skip}
      </a>
      <TopBar isOpen={isOpen} onToggle={() => setIsOpen(!isOpen)} />
      {environment === 'test' && <TestBand />}
      <Rail isOpen={isOpen} onClose={() => setIsOpen(false)} />
      <main id="content" class="content" tabIndex={-1}>
        {/* Remounted, so that no data of one tenant is shown as another's. */}
        <View key={`${tenant.id} ${environment}`} />
      </main>
    </div>
  )
}

function TopBar({ isOpen, onToggle }: { isOpen: boolean; onToggle: () => void }) {
  const words = useDashboardWords()
  return (
    <header class="top-bar line middle">
      <button
        type="button"
        class="icon-button menu-button"
        aria-label={words.menu}
        aria-expanded={isOpen}
        aria-controls="rail"
        onClick={onToggle}
      >
        <Icon name={isOpen ? 'cross' : 'menu'} />
      </button>
      <Link class="wordmark-link touch" href={hrefTo('')} aria-label={`Vidimus: ${words.toOverview}`}>
        <Wordmark />
      </Link>
      <TenantSwitch />
      <EnvironmentSwitch />
    </header>
  )
}

function TenantSwitch() {
  const words = useDashboardWords()
  const { session } = useSession()
  const { view } = useRoute()
  const { tenant } = usePlace()
  if (session.tenants.length === 1) return <span class="tenant clipped">{tenant.name}</span>
  return (
    <Choice
      class="tenant clipped"
      label={words.shop}
      value={tenant.id}
      options={session.tenants.map(({ id, name }) => [id, name])}
      onChoose={id => goTo(hrefTo(view, { tenant: id }))}
    />
  )
}

function EnvironmentSwitch() {
  const words = useDashboardWords()
  const { view } = useRoute()
  const { environment } = usePlace()
  return (
    <fieldset class="environment">
      <legend class="only-heard">{words.environment}</legend>
      {ENVIRONMENTS.map(each => (
        <label key={each} class={each}>
          <input
            type="radio"
            name="environment"
            value={each}
            checked={each === environment}
            onChange={() => goTo(hrefTo(view, { environment: each }))}
          />
          <span>{words.environments[each]}</span>
        </label>
      ))}
    </fieldset>
  )
}

function Rail({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const words = useDashboardWords()
  const { view } = useRoute()
  const rail = useRef<HTMLElement>(null)
  const current = PARENTS[view] ?? view
  return (
    <nav
      id="rail"
      class={`rail${isOpen ? ' open' : ''}`}
      aria-label={words.main}
      ref={rail}
      onKeyDown={event => event.key === 'Escape' && onClose()}
    >
      <ul>
        {(Object.keys(PLACES) as PlaceName[]).map(name => (
          <li key={name}>
            <Link href={hrefTo(name)} aria-current={name === current ? 'page' : undefined}>
              <Icon name={PLACES[name]} />
              {words.nav[name]}
            </Link>
          </li>
        ))}
      </ul>
      <Links />
      <Account />
    </nav>
  )
}

/** Pages of the service beside the dashboard. */
function Links() {
  const words = useDashboardWords()
  const links = [
    ['docs', words.links.handbook],
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
  const signOut = useAction(() => leave('POST', 'logout'))
  return (
    <div class="account">
      <LanguageSwitch />
      <Link href={hrefTo('settings/profile')}>
        <Icon name="person" />
        <span class="cut clipped">{session.user.name}</span>
      </Link>
      <button type="button" aria-disabled={signOut.isBusy || undefined} onClick={() => signOut.run()}>
        <Icon name="leave" />
        {words.signOut}
      </button>
      <Problem of={signOut.problem} />
    </div>
  )
}
