import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { loadConfig } from '../config.ts'
import { realWorld } from '../ground.ts'
import { hostOf } from '../signing/keys.ts'
import { isoUtc } from '../time.ts'
import { type LocalTls, LocalTlsProblem, makeLocalTls } from './local-tls.ts'
import { actOf, CommandError, parseCall, print, UsageError } from './output.ts'

const HELP = `usage: vidimus tls init [--host NAME-OR-ADDRESS]… [--out DIR] [--json]

Makes what https needs on a network of your own: an authority (ca.pem, ten years) and under it a certificate (cert.pem, 397 days), each with its
key, which only you can read. They are written to DIR, by default tls in the data directory. Without --host the certificate is for the host of
VIDIMUS_PUBLIC_URL, this machine's addresses and localhost.

Called again it keeps the authority and makes a new certificate, without --host for the same names; a SIGHUP makes the service read it.

Tills and computers trust the certificate once ca.pem is installed on them. Customers' phones will not trust it, and wallets refuse it: wallets need
a public name with a certificate from a public authority.

example: vidimus tls init --host till-server.lan --host 192.168.10.2`

export async function runTls(args: string[]): Promise<number> {
  const call = parseCall(args, { host: { type: 'string', multiple: true }, out: { type: 'string' } })
  const { values } = call
  if (values.help) return print(HELP)
  actOf('tls', call, { init: { flags: ['host', 'out'] } })
  const config = loadConfig(process.env)
  const folder = resolve(values.out ?? join(config.dataDir, 'tls'))
  const { now, random } = realWorld()
  try {
    const made = await makeLocalTls({
      folder,
      hosts: values.host?.map(checkedHost),
      hostsDefault: ownHosts(config.publicUrl),
      at: now(),
      random,
    })
    return show(made, values.json)
  } catch (error) {
    if (error instanceof LocalTlsProblem) throw new CommandError(error.message)
    const { code } = error as { code?: unknown }
    if (typeof code === 'string' && /^E[A-Z]+$/.test(code))
      throw new CommandError(`cannot use ${folder} (${code}); mend its permissions, or choose another with --out`)
    throw error
  }
}

function checkedHost(host: string): string {
  const isName = /^(?=.{1,253}$)(\*\.)?[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i.test(host)
  if (!isName && isIP(host) === 0) throw new UsageError(`--host: "${host}" is neither a host name nor an address`)
  return host.toLowerCase()
}

/** Link-local addresses are left out: they are written with the name of an interface, which no certificate has. */
function ownHosts(publicUrl: string): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap(each => each ?? [])
  const lan = addresses.filter(({ internal, address }) => !internal && !/^fe80:/i.test(address)).map(({ address }) => address)
  return [...new Set([hostOf(publicUrl), ...lan, 'localhost', '127.0.0.1'])]
}

function show({ hosts, notAfter, certFile, keyFile, caFile, isNewAuthority }: LocalTls, json = false): number {
  if (json) {
    const files = { cert: certFile, key: keyFile, ca: caFile }
    return print(JSON.stringify({ ...files, hosts, not_after: isoUtc(notAfter), new_ca: isNewAuthority }))
  }
  return print(`A certificate for ${hosts.join(', ')}, valid until ${isoUtc(notAfter).slice(0, 10)}.

Set these, and start the service again${isNewAuthority ? '' : '; or, if they are set already, send it a SIGHUP'}:

  VIDIMUS_TLS_CERT=${certFile}
  VIDIMUS_TLS_KEY=${keyFile}

Install the authority on every till${isNewAuthority ? '' : ' that does not have it yet'}: ${caFile}

Customers' phones will not trust it, and wallets refuse it. For wallets the service needs a public name with a certificate
from a public authority; that name may well resolve to an address of your own network.`)
}
