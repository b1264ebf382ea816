import type { Config } from '../config.ts'

const isHttps = ({ publicUrl }: Config): boolean => publicUrl.startsWith('https:')

/** Browsers refuse the __Host- prefix over plain http, which only this machine may use. */
const nameOf = (config: Config): string => (isHttps(config) ? '__Host-session' : 'vidimus-session')

export function readCookie(config: Config, header: string | null): string | undefined {
  return new RegExp(`(?:^|; *)${nameOf(config)}=([A-Za-z0-9_-]{43})(?:;|$)`).exec(header ?? '')?.[1]
}

/** No Max-Age: it ends with the browser; the server ends the session earlier. */
export function cookieFor(config: Config, value: string): string {
  return `${nameOf(config)}=${value}; Path=/; HttpOnly; SameSite=Strict${isHttps(config) ? '; Secure' : ''}`
}

export const clearedCookie = (config: Config): string => `${cookieFor(config, '')}; Max-Age=0`
