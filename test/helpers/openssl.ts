import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** One call of openssl as it is typed, but for words with spaces in them, which come last. */
export const openssl = (call: string, ...words: string[]): string =>
  execFileSync('openssl', [...call.split(' '), ...words], { stdio: ['ignore', 'pipe', 'ignore'] }).toString()

/** A self-signed certificate NAME.pem with its key NAME.key, for 30 days. */
export function makeRoot(folder: string, name: string, subject: string): void {
  const files = `-keyout ${join(folder, `${name}.key`)} -out ${join(folder, `${name}.pem`)}`
  openssl(`req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 ${files} -subj`, subject)
}
