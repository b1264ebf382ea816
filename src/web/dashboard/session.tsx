import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Session } from '../../people/schema.ts'
import { Cancelled, type Client, createClient } from './client.ts'
import { PasswordDialog } from './entrance/password-dialog.tsx'
import { type Environment, environmentOf, useRoute } from './route.tsx'

/** The same as the server's. */
const IDLE_MS = 30 * 60_000
const IDLE_CHECK_MS = 10_000

type Around = Client & {
  session: Session
  /** Called after a change of the session's data: a password, the tenants. */
  renew: (session?: Session) => Promise<void>
  /** Ends the session by a call, and leads to the log-in. */
  leave: (method: 'POST' | 'DELETE', path: string) => Promise<void>
}

const Current = createContext<Around | undefined>(undefined)

export function useSession(): Around {
  const around = useContext(Current)
  if (!around) throw new Error('only for those who are logged in')
  return around
}

/** Whether the user's role shows them what customers presented. */
export const useMaySeeClaims = (): boolean => useSession().session.user.role !== 'viewer'

/** Whether the user's role lets them change something. The server refuses it all the same. */
export const useMayChange = (): boolean => useSession().session.user.role !== 'viewer'

/** Left out for viewers. */
export function ForEditors({ children }: { children: ComponentChildren }) {
  return useMayChange() ? children : null
}

/** The tenant and the environment in the address, and the tenant's routes. */
export function usePlace(): { tenant: Session['tenants'][number]; environment: Environment; inTenant: (path: string) => string } {
  const { session } = useSession()
  const route = useRoute()
  const tenant = session.tenants.find(({ id }) => id === route.search.get('tenant')) ?? session.tenants[0]
  if (!tenant) throw new Error('only where there is a tenant')
  return {
    tenant,
    environment: environmentOf(route),
    inTenant: path => `tenants/${encodeURIComponent(tenant.id)}/${path}`,
  }
}

type Props = {
  first: Session
  onEnded: (why: 'away' | 'left') => void
  children: ComponentChildren
}

type Waiting = { resolve: () => void; reject: (reason: Cancelled) => void }

/** Everything inside needs a session, and is removed with it. */
export function LoggedIn({ first, onEnded, children }: Props) {
  const [session, setSession] = useState(first)
  const [waiting, setWaiting] = useState<Waiting>()
  const token = useRef(first.csrf_token)
  const heardAt = useRef(performance.now())
  const why = useRef<'away' | 'left'>('away')
  const keep = (next: Session) => {
    token.current = next.csrf_token
    setSession(next)
  }
  const client = useMemo(
    () =>
      createClient({
        csrfToken: () => token.current,
        onSession: keep,
        onEnded: () => onEnded(why.current),
        askPassword: () => new Promise<void>((resolve, reject) => setWaiting({ resolve, reject })),
        onAnswer: () => {
          heardAt.current = performance.now()
        },
      }),
    [],
  )
  useEffect(() => {
    // Claims must not stay on an unattended screen.
    const timer = setInterval(() => performance.now() - heardAt.current > IDLE_MS && onEnded('away'), IDLE_CHECK_MS)
    return () => clearInterval(timer)
  }, [])
  const around: Around = {
    ...client,
    session,
    renew: async next => keep(next ?? (await client.call<Session>('session'))),
    leave: async (method, path) => {
      // Other calls that are under way are refused then: the user left all the same.
      why.current = 'left'
      try {
        await client.call(path, { method })
      } catch (error) {
        why.current = 'away'
        throw error
      }
      onEnded('left')
    },
  }
  return (
    <Current.Provider value={around}>
      {children}
      {waiting && (
        <PasswordDialog
          name={session.user.name}
          call={client.call}
          onRight={next => {
            keep(next)
            setWaiting(undefined)
            waiting.resolve()
          }}
          onCancel={() => {
            setWaiting(undefined)
            waiting.reject(new Cancelled())
          }}
        />
      )}
    </Current.Provider>
  )
}
