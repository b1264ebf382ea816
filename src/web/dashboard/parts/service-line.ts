import { serviceUrl } from '../../shared/base.ts'

type Line = { method?: string; path: string; key?: string; body?: object }

/** The command that does the same as a button. */
export function curlLine({ method = 'POST', path, key = 'YOUR_API_KEY', body }: Line): string {
  const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}${serviceUrl(path)}`, `-H 'Authorization: Bearer ${key}'`]
  if (body) parts.push(`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body)}'`)
  return parts.join(' \\\n  ')
}
