import { useEffect, useState } from 'preact/hooks'
import type { ApiKey } from '../../../dashboard/developers/keys/schema.ts'
import type { Device } from '../../../devices/schema.ts'
import type { Status } from '../../../verifications/schema.ts'
import { Choice } from '../../kit/field.tsx'
import { Icon } from '../../kit/icons.tsx'
import { useOutcomeNames } from '../../shared/outcome.ts'
import { NAMES_OF } from '../../shared/outcome-code.ts'
import { useData } from '../data.ts'
import { nameOf } from '../developers/keys/roll-key.tsx'
import { Day, startOf } from '../parts/day.tsx'
import { TemplateChoice } from '../parts/template-menu.tsx'
import { goTo, hrefTo, type Route } from '../route.tsx'
import { usePlace } from '../session.tsx'
import type { TemplatesData } from '../template-names.ts'
import { useVerificationsWords } from './words.ts'

const STATUSES: readonly Status[] = ['pending', 'completed', 'failed', 'expired']
const NAMES = ['search', 'status', 'template', 'device', 'key', 'channel', 'from', 'to'] as const

/** The filter in the address; days are those of the reader's clock, `to` included. */
export type Filter = Record<(typeof NAMES)[number], string | null>

export const filterOf = ({ search }: Pick<Route, 'search'>): Filter =>
  Object.fromEntries(NAMES.map(name => [name, search.get(name) || null])) as Filter

export const isFiltered = (filter: Filter): boolean => NAMES.some(name => filter[name] !== null)

/** Parameters of the service. */
export function queryOf(environment: string, { from, to, ...rest }: Filter): string {
  const given = Object.entries({ ...rest, from: startOf(from, 0), until: startOf(to, 1) }).filter(([, value]) => value !== null)
  return new URLSearchParams({ environment, ...(Object.fromEntries(given) as Record<string, string>) }).toString()
}

export function Filters({ filter, templates }: { filter: Filter; templates: TemplatesData }) {
  const words = useVerificationsWords()
  const names = useOutcomeNames()
  const { environment, inTenant } = usePlace()
  const devices = useData<{ data: Device[] }>(inTenant(`devices?environment=${environment}`))
  const keys = useData<{ data: ApiKey[] }>(inTenant('keys'))
  const ownKeys = keys.value?.data.filter(key => key.environment === environment) ?? []
  const choose = (change: Partial<Filter>) => goTo(hrefTo('verifications', { ...filter, ...change }), { replace: true })
  const [isOpen, setIsOpen] = useState(false)
  const chosen = NAMES.filter(name => name !== 'search' && filter[name] !== null).length
  return (
    <div class="filter-bar stack dense">
      <Search text={filter.search ?? ''} onSearch={search => choose({ search: search || null })} />
      {/* Only phones show the button, and fold the filters behind it (parts.css). */}
      <button
        type="button"
        class="button filters-button"
        aria-expanded={isOpen}
        aria-controls="filters"
        onClick={() => setIsOpen(!isOpen)}
      >
        {words.filters} {chosen > 0 && `(${chosen})`}
        <Icon name="down" />
      </button>
      <fieldset id="filters" class={`filters foldable row tight ${isOpen ? 'open' : ''}`}>
        <legend class="only-heard">{words.filters}</legend>
        <Choice
          label={words.status}
          value={filter.status ?? ''}
          options={[
            ['', words.anyStatus],
            ...STATUSES.map(status => [status, shortly(NAMES_OF[status].map(name => names[name]))] as const),
          ]}
          onChoose={status => choose({ status: status || null })}
        />
        <TemplateChoice
          label={words.template}
          templates={templates.value?.data ?? []}
          none={words.anyTemplate}
          value={filter.template ?? ''}
          onChoose={template => choose({ template: template || null })}
        />
        <Choice
          label={words.device}
          value={filter.device ?? ''}
          options={[['', words.anyDevice], ...(devices.value?.data ?? []).map(({ id, name }) => [id, name] as const)]}
          onChoose={device => choose({ device: device || null })}
        />
        <Choice
          label={words.key}
          value={filter.key ?? ''}
          options={[['', words.anyKey], ...ownKeys.map(key => [key.id, nameOf(key)] as const)]}
          onChoose={key => choose({ key: key || null })}
        />
        <Choice
          label={words.channel}
          value={filter.channel ?? ''}
          options={[
            ['', words.anyChannel],
            ['in_person', words.channels.in_person],
            ['dc_api', words.channels.dc_api],
          ]}
          onChoose={channel => choose({ channel: channel || null })}
        />
        <div class="days">
          <Day label={words.from} day={filter.from} onDay={from => choose({ from })} />
          <Day label={words.to} day={filter.to} onDay={to => choose({ to })} />
        </div>
      </fieldset>
    </div>
  )
}

/** A select is cut where its longest entry does not fit. */
const shortly = ([first, second, ...more]: readonly string[]): string =>
  [first, second].filter(Boolean).join(', ') + (more.length > 0 ? ' …' : '')

function Search({ text, onSearch }: { text: string; onSearch: (text: string) => void }) {
  const words = useVerificationsWords()
  const [typed, setTyped] = useState(text)
  useEffect(() => setTyped(text), [text])
  return (
    <search>
      <form
        class="search line dense"
        noValidate
        onSubmit={event => {
          event.preventDefault()
          onSearch(typed.trim())
        }}
      >
        <input
          class="input grow"
          type="search"
          aria-label={words.search}
          placeholder={words.searchHint}
          autocomplete="off"
          maxLength={500}
          value={typed}
          onInput={event => setTyped(event.currentTarget.value)}
        />
        <button type="submit" class="icon-button" aria-label={words.searchDo}>
          <Icon name="search" />
        </button>
      </form>
    </search>
  )
}
