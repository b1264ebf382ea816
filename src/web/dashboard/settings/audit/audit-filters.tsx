import { Choice } from '../../../kit/field.tsx'
import { useData } from '../../data.ts'
import { Day, startOf } from '../../parts/day.tsx'
import { goTo, hrefTo, type Route } from '../../route.tsx'
import { usePlace, useSession } from '../../session.tsx'
import { useActorName } from '../../verifications/timeline.tsx'
import { useAuditWords } from './words.ts'

const NAMES = ['whose', 'who', 'act', 'from', 'to', 'about'] as const

/** The filter in the address; days are those of the reader's clock, `to` included. */
export type AuditFilter = Record<(typeof NAMES)[number], string | null>

export const auditFilterOf = ({ search }: Pick<Route, 'search'>): AuditFilter =>
  Object.fromEntries(NAMES.map(name => [name, search.get(name) || null])) as AuditFilter

export const isFiltered = ({ whose, ...filter }: AuditFilter): boolean => Object.values(filter).some(value => value !== null)

/** The address of the service. */
export function usePath({ whose, who, act, from, to, about }: AuditFilter): string {
  const { environment, inTenant } = usePlace()
  const wanted = { actor: who, action: act, from: startOf(from, 0), until: startOf(to, 1), subject: about }
  const given = Object.entries({ ...wanted, environment: whose === 'all' ? null : environment })
  const query = new URLSearchParams(given.flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
  return `${whose === 'all' ? 'audit' : inTenant('audit')}?${query}`
}

export function AuditFilters({ filter }: { filter: AuditFilter }) {
  const words = useAuditWords()
  const actorName = useActorName()
  const { session } = useSession()
  const { inTenant } = usePlace()
  const people = useData<{ data: string[] }>(filter.whose === 'all' ? 'audit/people' : inTenant('audit/people'))
  const choose = (change: Partial<AuditFilter>) => goTo(hrefTo('audit', { ...filter, ...change }), { replace: true })
  const acts = Object.entries(words.actions).sort(([, a], [, b]) => a.localeCompare(b))
  const known = (people.value?.data ?? []).map(actor => [actor, actorName({ actor })] as const)
  // Somebody who never acted here may be in the address.
  const others = filter.who && !known.some(([actor]) => actor === filter.who) ? [[filter.who, filter.who] as const] : []
  return (
    <fieldset class="filters acts row tight">
      <legend class="only-heard">{words.filters}</legend>
      {session.user.is_owner && (
        <Choice
          label={words.scope}
          value={filter.whose ?? 'shop'}
          options={[
            ['shop', words.scopes.shop],
            ['all', words.scopes.all],
          ]}
          onChoose={whose => choose({ whose: whose === 'all' ? whose : null })}
        />
      )}
      <Choice
        label={words.actor}
        value={filter.who ?? ''}
        options={[['', words.everybody], ...known, ...others]}
        onChoose={who => choose({ who: who || null })}
      />
      <Choice
        label={words.action}
        value={filter.act ?? ''}
        options={[['', words.anything], ...acts]}
        onChoose={act => choose({ act: act || null })}
      />
      <Day label={words.from} day={filter.from} onDay={from => choose({ from })} />
      <Day label={words.to} day={filter.to} onDay={to => choose({ to })} />
    </fieldset>
  )
}
