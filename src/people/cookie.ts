import type { Config } from '../config.ts'

const isHttps = ({ publicUrl }: Config): boolean => publicUrl.startsWith('https:')

/** Over plain http, which only this machine itself may use, browsers take no cookie with the prefix. */
const nameOf = (config: Config): string => (isHttps(config) ? '__Host-session' : 'vidimus-session')

export function readCookie(config: Config, header: string | null): string | undefined {
  return new RegExp(`(?:^|; *)${nameOf(config)}=([A-Za-z0-9_-]{43})(?:;|$)`).exec(header ?? '')?.[1]
}

/** Without an age it goes with the browser; the server ends it earlier. */
export function cookieFor(config: Config, value: string): string {
  return `${nameOf(config)}=${value}; Path=/; HttpOnly; SameSite=Strict${isHttps(config) ? '; Secure' : ''}`
}

export const clearedCookie = (config: Config): string => `${cookieFor(config, '')}; Max-Age=0`
