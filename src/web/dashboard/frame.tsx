import { useEffect, useState } from 'preact/hooks'
import { Choice } from '../kit/field.tsx'
import { Icon } from '../kit/icons.tsx'
import { Wordmark } from '../kit/seal.tsx'
import { TestBand } from '../kit/test-band.tsx'
import { Rail } from './rail.tsx'
import { ENVIRONMENTS, goTo, hrefTo, Link, useRoute } from './route.tsx'
import { SearchButton, SearchDialog, useSearchKey } from './search/search.tsx'
import { usePlace, useSession } from './session.tsx'
import { View } from './view.tsx'
import { useDashboardWords } from './words.ts'

export function Frame() {
  const words = useDashboardWords()
  const route = useRoute()
  const { tenant, environment } = usePlace()
  const [isOpen, setIsOpen] = useState(false)
  const [isSearching, setIsSearching] = useState(false)
  useSearchKey(() => setIsSearching(true))
  useEffect(() => setIsOpen(false), [route.view, route.id])
  return (
    <div class={`frame ${environment}`}>
      <a class="skip" href="#content">
        {words.skip}
      </a>
      <TopBar isOpen={isOpen} onToggle={() => setIsOpen(!isOpen)} onSearch={() => setIsSearching(true)} />
      {isSearching && <SearchDialog onClose={() => setIsSearching(false)} />}
      {environment === 'test' && <TestBand />}
      <Rail isOpen={isOpen} onClose={() => setIsOpen(false)} />
      <main id="content" class="content" tabIndex={-1}>
        {/* Remounted, so that no data of one tenant is shown as another's. */}
        <View key={`${tenant.id} ${environment}`} />
      </main>
    </div>
  )
}

function TopBar({ isOpen, onToggle, onSearch }: { isOpen: boolean; onToggle: () => void; onSearch: () => void }) {
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
      <SearchButton onClick={onSearch} />
      <EnvironmentSwitch />
    </header>
  )
}

function TenantSwitch() {
  const words = useDashboardWords()
  const { session } = useSession()
  const { page } = useRoute()
  const { tenant } = usePlace()
  if (session.tenants.length === 1) return <span class="tenant clipped">{tenant.name}</span>
  return (
    <Choice
      class="tenant clipped"
      label={words.shop}
      value={tenant.id}
      options={session.tenants.map(({ id, name }) => [id, name])}
      onChoose={id => goTo(hrefTo(page, { tenant: id }))}
    />
  )
}

function EnvironmentSwitch() {
  const words = useDashboardWords()
  const { page } = useRoute()
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
            onChange={() => goTo(hrefTo(page, { environment: each }))}
          />
          <span>{words.environments[each]}</span>
        </label>
      ))}
    </fieldset>
  )
}
