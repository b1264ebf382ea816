// One request to the public address, as a phone would make it. The certificate is recorded, not
// enforced: its faults are what doctor reports, and nothing secret is sent.
import type { X509Certificate } from 'node:crypto'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { RequestOptions } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { equalConstantTime } from '../base/hash.ts'
import { isIP, isIPv6 } from '../base/ip.ts'
import type { Configured, Sealing } from '../ground.ts'
import { createProver, PROBE_HEADER, PROOF_HEADER } from '../http/probe.ts'
import type { Deps } from './deps.ts'

const EXCHANGE_MS_MAX = 2500

export type ServedCertificate = {
  leaf: X509Certificate
  /** Issued by an authority that this machine trusts, for this name and today. */
  isTrusted: boolean
}

export type Visit = {
  host: string
  /** Empty when the name was not found. */
  addresses: string[]
  certificate?: ServedCertificate
  answer?: { status: number; isOurs: boolean; date: number | undefined }
}

type VisitDeps = Sealing & Configured & Pick<Deps, 'resolve'>

export async function visitPublicUrl({ config, resolve, random, sealer }: VisitDeps): Promise<Visit> {
  const url = new URL(`${config.publicUrl || 'http://localhost'}/healthz`)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(host) ? [host] : await resolve(host).catch(() => [])
  const [address] = addresses
  if (!config.publicUrl || address === undefined) return { host, addresses }
  const number = Buffer.from(random(24)).toString('base64url')
  const seen = await exchange(url, address, number)
  const proof = createProver(sealer)(number) ?? ''
  return {
    host,
    addresses,
    ...(seen.certificate && { certificate: seen.certificate }),
    ...(seen.response && { answer: readAnswer(seen.response, proof) }),
  }
}

type Seen = { certificate?: ServedCertificate; response?: IncomingMessage }

function exchange(url: URL, address: string, number: string): Promise<Seen> {
  return new Promise(settle => {
    const seen: Seen = {}
    const request = requestTo(url, address, number)
    const finish = () => {
      clearTimeout(timer)
      request.destroy()
      settle(seen)
    }
    const timer = setTimeout(finish, EXCHANGE_MS_MAX)
    request.on('socket', socket =>
      socket.once('secureConnect', () => {
        const { authorized } = socket as TLSSocket
        const leaf = (socket as TLSSocket).getPeerX509Certificate()
        if (leaf) seen.certificate = { leaf, isTrusted: authorized }
      }),
    )
    request.on('error', finish)
    request.on('response', response => {
      seen.response = response
      finish()
    })
    request.end()
  })
}

function requestTo(url: URL, address: string, number: string): ClientRequest {
  const family = isIPv6(address) ? 6 : 4
  const options: RequestOptions = {
    method: 'GET',
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port || (url.protocol === 'https:' ? 443 : 80),
    path: url.pathname,
    headers: { [PROBE_HEADER]: number, host: url.host, connection: 'close' },
    agent: false,
    rejectUnauthorized: false,
    lookup: (_, wanted, callback) => (wanted.all ? callback(null, [{ address, family }]) : callback(null, address, family)),
  }
  // Not imported: the start of the service would wait for it.
  return process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http').request(options)
}

function readAnswer({ statusCode = 0, headers }: IncomingMessage, proof: string): NonNullable<Visit['answer']> {
  const date = Date.parse(headers.date ?? '')
  const isOurs = equalConstantTime(String(headers[PROOF_HEADER] ?? ''), proof)
  return { status: statusCode, isOurs, date: Number.isNaN(date) ? undefined : date }
}
