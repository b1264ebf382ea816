import type { ComponentChildren } from 'preact'
import type { AuditRecord } from '../../../../dashboard/settings/audit/schema.ts'
import { readableName } from '../../../shared/claims.ts'
import { useOutcome } from '../../../shared/outcome.ts'
import { useKeysWords } from '../../developers/keys/words.ts'
import { useFormat } from '../../format.ts'
import { useGoLiveWords } from '../../go-live/words.ts'
import { Facts } from '../../parts/facts.tsx'
import { hrefTo, Link } from '../../route.tsx'
import { useSession } from '../../session.tsx'
import { type TemplatesData, useTemplateTitle } from '../../template-names.ts'
import { useVerificationWords } from '../../verifications/words.ts'
import { useDashboardWords } from '../../words.ts'
import { usePeopleWords } from '../people/words.ts'
import { useSecurityWords } from '../security/words.ts'
import { useAuditWords } from './words.ts'

/** The details of a record in words, and its place on the chain: one list. */
export function RecordFacts({ record, templates }: { record: AuditRecord; templates: TemplatesData }) {
  const words = useAuditWords()
  const { time } = useFormat()
  const say = useValues(templates)
  const { actor, actor_label, details, hash, at, action } = record
  const { id, ...others } = details ?? {}
  return (
    <>
      {details === null && <p class="secondary">{words.erasedDetails}</p>}
      <Facts
        facts={[
          [words.fields.id, typeof id === 'string' && <Subject id={id} action={action} />],
          ...Object.entries(others).map(([name, value]) => [words.fields[name] ?? readableName(name), say(name, value)] as const),
          [words.actor, actor_label && <code key="actor">{actor}</code>],
          [
            words.at,
            <time key="at" dateTime={at} title={at}>
              {time(at)}
            </time>,
          ],
          [words.hash, <code key="hash">{hash}</code>],
        ]}
      />
    </>
  )
}

/** What it is about, and the way to everything about it; a shop is there by its name. */
function Subject({ id, action }: { id: string; action: string }) {
  const words = useAuditWords()
  const { session } = useSession()
  const shop = session.tenants.find(tenant => tenant.id === id)
  if (shop) return <>{shop.name}</>
  const isVerification = id.startsWith('vs_') && action !== 'verification.erased'
  return (
    <>
      {isVerification ? (
        <Link href={hrefTo(`verifications/${id}`)}>
          <code>{id}</code>
        </Link>
      ) : (
        <code>{id}</code>
      )}{' '}
      · <Link href={hrefTo('audit', { about: id })}>{words.everythingAbout}</Link>
    </>
  )
}

const TEMPLATES = ['template', 'templates', 'allowed_templates', 'key']

/** Says a value of a record's details by the name of its field. */
function useValues(templates: TemplatesData): (name: string, value: unknown) => ComponentChildren {
  const all = useDashboardWords()
  const { time, number } = useFormat()
  const titleOf = useTemplateTitle(templates)
  const { formats } = useVerificationWords()
  const { documents } = useGoLiveWords()
  const named: Record<string, Record<string, string | undefined>> = {
    environment: all.environments,
    formats,
    role: usePeopleWords().roles,
    method: useSecurityWords().methods,
    scopes: mapped(useKeysWords().scopes),
    documents: mapped(documents),
  }
  const sayOne = (name: string, value: unknown): ComponentChildren => {
    if (typeof value === 'boolean') return value ? all.yes : all.no
    if (typeof value === 'number') return name.endsWith('_at') ? time(new Date(value).toISOString()) : number(value)
    if (typeof value !== 'string') return value !== null && <code>{JSON.stringify(value)}</code>
    if (TEMPLATES.includes(name)) return titleOf(value)
    if (name === 'error') return <Outcome code={value} />
    return named[name]?.[value] ?? (isTime(value) ? time(value) : value)
  }
  return (name, value) => (Array.isArray(value) ? joined(value.map(each => sayOne(name, each))) : sayOne(name, value))
}

const mapped = (words: Record<string, { title: string }>): Record<string, string> =>
  Object.fromEntries(Object.entries(words).map(([name, { title }]) => [name, title]))

const joined = (values: ComponentChildren[]): ComponentChildren[] => values.flatMap((each, i) => (i === 0 ? each : [', ', each]))

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)

const Outcome = ({ code }: { code: string }) => <>{useOutcome(code).sentence}</>
