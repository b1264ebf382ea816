import { useEffect, useState } from 'preact/hooks'
import type { ApiKey } from '../../../dashboard/developers/keys/schema.ts'
import type { VerificationPage } from '../../../dashboard/verifications/schema.ts'
import type { Device } from '../../../devices/schema.ts'
import { find, type Section } from '../../handbook/find.ts'
import { serviceUrl } from '../../shared/base.ts'
import { useLanguage } from '../../shared/language.ts'
import { useData } from '../data.ts'
import { nameOf } from '../developers/keys/roll-key.tsx'
import { hrefTo } from '../route.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useTemplates, useTemplateTitle } from '../template-names.ts'

export type Hit = {
  kind: 'verification' | 'template' | 'till' | 'key' | 'handbook'
  id: string
  title: string
  more?: string | undefined
  href: string
}

/** Of each kind. */
const HITS_MAX = 5
const PAUSE_MS = 200

/** Everything that a text leads to; undefined while it is looked for. */
export function useHits(typed: string): Hit[] | undefined {
  const text = typed.trim()
  const { environment, inTenant } = usePlace()
  const templates = useTemplates()
  const devices = useData<{ data: Device[] }>(inTenant(`devices?environment=${environment}`))
  const keys = useData<{ data: ApiKey[] }>(inTenant('keys'))
  const language = useLanguage()
  const verifications = useVerifications(text)
  const sections = useHandbook(text !== '')
  if (text === '') return []
  const has = (...places: string[]) => places.some(place => place.toLowerCase().includes(text.toLowerCase()))
  const few = <Row>(rows: readonly Row[] | undefined, isHit: (row: Row) => boolean) =>
    (rows ?? []).filter(isHit).slice(0, HITS_MAX)
  const found: Hit[] = [
    ...(verifications ?? []),
    ...few(templates.value?.data, each => has(each.key, each.localized.title[language])).map(({ key, localized }) => ({
      kind: 'template' as const,
      id: key,
      title: localized.title[language],
      href: hrefTo(`templates/${key}`),
    })),
    ...few(devices.value?.data, each => has(each.name, each.id)).map(({ id, name }) => ({
      kind: 'till' as const,
      id,
      title: name,
      href: hrefTo('verifications', { device: id }),
    })),
    ...few(keys.value?.data, each => has(each.label ?? '', each.prefix, each.id)).map(key => ({
      kind: 'key' as const,
      id: key.id,
      title: nameOf(key),
      href: hrefTo('keys', { environment: key.environment }),
    })),
    ...find(sections, text)
      .slice(0, HITS_MAX)
      .map(({ page, title, heading, id }) => ({
        kind: 'handbook' as const,
        id: `${page}#${id}`,
        title: heading || title,
        more: heading && title,
        href: serviceUrl(`docs/${page}${id && `#${id}`}`),
      })),
  ]
  return found.length === 0 && verifications === undefined ? undefined : found
}

/** Asked for after a pause in typing; undefined until the answer is there. */
function useVerifications(text: string): Hit[] | undefined {
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const titleOf = useTemplateTitle(useTemplates())
  const [found, setFound] = useState<{ text: string; rows: VerificationPage['data'] }>()
  useEffect(() => {
    if (text === '') return
    const leaving = new AbortController()
    const query = new URLSearchParams({ environment, search: text.slice(0, 500), limit: String(HITS_MAX) })
    const timer = setTimeout(() => {
      call<VerificationPage>(inTenant(`verifications?${query}`), { signal: leaving.signal })
        .then(({ data }) => setFound({ text, rows: data }))
        // What else was found is shown; the next letter asks again.
        .catch(() => leaving.signal.aborted || setFound({ text, rows: [] }))
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [text])
  if (found?.text !== text) return undefined
  return found.rows.map(({ id, template, metadata = {} }) => ({
    kind: 'verification',
    id,
    title: Object.values(metadata)[0] ?? id,
    more: titleOf(template),
    href: hrefTo(`verifications/${id}`),
  }))
}

/** The index of the handbook, fetched with the first letter. */
function useHandbook(isNeeded: boolean): readonly Section[] {
  const [sections, setSections] = useState<readonly Section[]>([])
  useEffect(() => {
    if (!isNeeded) return
    fetch(serviceUrl('docs/search.json'))
      .then(answer => (answer.ok ? (answer.json() as Promise<Section[]>) : []))
      .then(setSections, () => {})
  }, [isNeeded])
  return sections
}
