// Calls the dashboard's routes; handles ended sessions, password prompts and outdated CSRF tokens.
import type { Session } from '../../people/schema.ts'
import { ApiFailure, callApi, Unreachable } from '../shared/api.ts'
import { serviceUrl } from '../shared/base.ts'

const API = 'dashboard/api/'
const EXPORT_MS_MAX = 10 * 60_000

type Ask = { method?: 'GET' | 'POST' | 'PUT' | 'DELETE'; body?: object; signal?: AbortSignal; timeoutMs?: number }

/** The reader cancelled: nothing happened, and no error is shown. */
export class Cancelled extends Error {}

type Around = {
  csrfToken: () => string
  onSession: (session: Session) => void
  /** The session has ended. */
  onEnded: () => void
  /** Resolves once the password was right; throws Cancelled. */
  askPassword: () => Promise<void>
  onAnswer: () => void
}

export type Client = {
  call: <Body>(path: string, ask?: Ask) => Promise<Body>
  download: (path: string) => Promise<Blob>
}

export const callOpen = <Body>(path: string, body?: object): Promise<Body> =>
  callApi<Body>(`${API}${path}`, body && { method: 'POST', body })

export function createClient({ csrfToken, onSession, onEnded, askPassword, onAnswer }: Around): Client {
  async function remedied<Result>(act: () => Promise<Result>, isAgain = false): Promise<Result> {
    try {
      const result = await act()
      onAnswer()
      return result
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error
      if (error.code === 'not_logged_in') onEnded()
      if (isAgain || !(await canRemedy(error))) throw error
      return await remedied(act, true)
    }
  }

  async function canRemedy({ code }: ApiFailure): Promise<boolean> {
    if (code === 'reauthentication_required') await askPassword()
    else if (code === 'csrf_refused') onSession(await callOpen<Session>('session'))
    else return false
    return true
  }

  return {
    call: (path, { method = 'GET', body, signal, timeoutMs } = {}) =>
      remedied(() =>
        callApi(`${API}${path}`, {
          method,
          signal,
          timeoutMs,
          ...(method !== 'GET' && { body: body ?? {}, headers: { 'x-csrf-token': csrfToken() } }),
        }),
      ),
    download: path => remedied(() => downloadOnce(path, csrfToken())),
  }
}

async function downloadOnce(path: string, csrfToken: string): Promise<Blob> {
  try {
    const response = await fetch(serviceUrl(`${API}${path}`), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-csrf-token': csrfToken },
      body: '{}',
      signal: AbortSignal.timeout(EXPORT_MS_MAX),
      cache: 'no-store',
    })
    if (response.ok) return await response.blob()
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    throw new ApiFailure(response.status, error.code, error.message, undefined)
  } catch (error) {
    throw error instanceof ApiFailure ? error : new Unreachable('no answer', { cause: error })
  }
}
