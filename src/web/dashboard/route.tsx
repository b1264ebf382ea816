// The address holds everything: a view below /dashboard, an id, the environment and the tenant.
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { LinkButton } from '../kit/button.tsx'
import { BASE } from '../shared/base.ts'
import { useFollowed } from '../shared/followed.ts'

export const ENVIRONMENTS = ['test', 'live'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

export type Route = {
  view: string
  id: string
  /** The view without the row that is open in it. */
  page: string
  search: URLSearchParams
}

const ROOT = `${BASE.pathname}dashboard`
const MOVED = new EventTarget()
/** Old addresses. */
const RENAMED: Readonly<Record<string, string>> = { devices: 'tills' }
/** Kept on every link. */
const KEPT = ['environment', 'tenant']

export function useRoute(): Route {
  const address = useFollowed(() => location.pathname + location.search, [MOVED, 'moved'], [window, 'popstate'])
  return useMemo(currentRoute, [address])
}

function currentRoute(): Route {
  const [path = '', id = ''] = location.pathname.slice(ROOT.length + 1).split('/')
  const view = RENAMED[path] ?? path
  const page = view === 'settings' && id ? `${view}/${id}` : view
  return { view: view || 'overview', id: decoded(id), page, search: new URLSearchParams(location.search) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Typed by hand; no such id.
    return text
  }
}

export const environmentOf = ({ search }: Pick<Route, 'search'>): Environment =>
  search.get('environment') === 'live' ? 'live' : 'test'

/** `hrefTo('verifications/vs_…', { status: 'failed' })`; null leaves a parameter out. */
export function hrefTo(place: string, search: Record<string, string | null> = {}): string {
  const here = new URLSearchParams(location.search)
  const kept = KEPT.flatMap(name => (here.has(name) ? [[name, here.get(name)] as const] : []))
  const wanted = Object.entries({ ...Object.fromEntries(kept), ...search }).filter(([, value]) => value !== null)
  const query = new URLSearchParams(wanted as [string, string][]).toString()
  const path = place === '' || place === 'overview' ? ROOT : `${ROOT}/${place}`
  return query ? `${path}?${query}` : path
}

export function goTo(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', href)
  else history.pushState(null, '', href)
  MOVED.dispatchEvent(new Event('moved'))
}

type LinkProps = {
  href: string
  class?: string
  'aria-current'?: 'page' | 'true'
  'aria-label'?: string
  tabIndex?: number
  children: ComponentChildren
}

/** A link inside the dashboard; with a modifier key the browser handles it. */
export function Link({ href, children, ...rest }: LinkProps) {
  return (
    <a {...rest} href={href} onClick={event => follow(event, href)}>
      {children}
    </a>
  )
}

/** The same, as a button. */
export function ButtonTo({ href, kind, children }: Pick<LinkProps, 'href' | 'children'> & { kind?: 'primary' }) {
  return (
    <LinkButton kind={kind} href={href} onClick={event => follow(event, href)}>
      {children}
    </LinkButton>
  )
}

function follow(event: MouseEvent, href: string): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  goTo(href)
}
