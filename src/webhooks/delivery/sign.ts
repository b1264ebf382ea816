import { hmacSha256With } from '../../base/hash.ts'

type Signing = { id: string; payload: string; secrets: readonly string[]; timestamp: number }

/** The same signatures as in sdk/webhook.ts, without WebCrypto, which goes through other threads four times for a message. */
export function signatureHeaders({ id, payload, secrets, timestamp }: Signing): Record<string, string> {
  if (secrets.length === 0) throw new Error('the tenant has no webhook secret')
  const own = secrets.map(secret => hmacSha256With(Buffer.from(secret))(`${timestamp}.`, payload).toString('hex'))
  const standard = secrets.map(secret => hmacSha256With(decoded(secret))(`${id}.${timestamp}.`, payload).toString('base64'))
  return {
    'x-service-signature': [`t=${timestamp}`, ...own.map(code => `v1=${code}`)].join(','),
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.map(code => `v1,${code}`).join(' '),
  }
}

const decoded = (secret: string): Buffer => Buffer.from(secret.slice('whsec_'.length), 'base64')
