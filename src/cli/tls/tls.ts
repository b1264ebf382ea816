import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { isIP } from '../../base/ip.ts'
import { isoUtc } from '../../base/time.ts'
import { loadConfig } from '../../config.ts'
import { realWorld } from '../../ground.ts'
import { hostOf } from '../../signing/keys.ts'
import { type Answer, defineCommand } from '../command.ts'
import { checked, optional, repeated, text } from '../flags.ts'
import { CommandError } from '../output.ts'
import { type LocalTls, LocalTlsProblem, makeLocalTls } from './local-tls.ts'

const host = checked(text('NAME-OR-ADDRESS'), value => {
  const isName = /^(?=.{1,253}$)(\*\.)?[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i.test(value)
  return isName || isIP(value) !== 0 ? undefined : `"${value}" is neither a host name nor an address`
})

export const command = defineCommand(
  {
    summary: 'make certificates for https on a local network',
    subcommands: {
      init: {
        flags: {
          host: repeated(
            host,
            `may be given several times; by default the host of VIDIMUS_PUBLIC_URL, this machine's
             addresses and localhost; when there is a certificate already, its names`,
          ),
          out: optional(text('DIR'), 'where the files are written; by default tls in the data directory'),
        },
      },
    },
    about: `Makes what https needs on a network of your own: an authority (ca.pem, ten years) and under it a
certificate (cert.pem, 397 days), each with its key, which only you can read.

Called again, it keeps the authority and makes a new certificate; a SIGHUP makes the service read
it.

Tills and computers trust the certificate once ca.pem is installed on them. Customers' phones will
not trust it, and wallets refuse it: wallets need a public name with a certificate from a public
authority.`,
    example: 'vidimus tls init --host till-server.lan --host 192.168.10.2',
  },
  {
    async init({ host: hosts, out }, { env }) {
      const config = loadConfig(env)
      const folder = resolve(out ?? join(config.dataDir, 'tls'))
      const { now, random } = realWorld()
      const wanted = {
        folder,
        hosts: hosts?.map(name => name.toLowerCase()),
        hostsDefault: ownHosts(config.publicUrl),
        at: now(),
        random,
      }
      return show(await makeLocalTls(wanted).catch(error => asCommandError(error, folder)))
    },
  },
)

function asCommandError(error: unknown, folder: string): never {
  if (error instanceof LocalTlsProblem) throw new CommandError(error.message)
  const { code } = error as { code?: unknown }
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code) && code !== 'ENOSPC')
    throw new CommandError(`cannot use ${folder} (${code}); correct its permissions, or choose another with --out`)
  throw error
}

/** No link-local addresses: they need the name of an interface, which no certificate has. */
function ownHosts(publicUrl: string): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap(each => each ?? [])
  const lan = addresses.filter(({ internal, address }) => !internal && !/^fe80:/i.test(address)).map(({ address }) => address)
  return [...new Set([hostOf(publicUrl), ...lan, 'localhost', '127.0.0.1'])]
}

function show({ hosts, notAfter, certFile, keyFile, caFile, isNewAuthority }: LocalTls): Answer {
  return {
    json: { cert: certFile, key: keyFile, ca: caFile, hosts, not_after: isoUtc(notAfter), new_ca: isNewAuthority },
    text: `A certificate for ${hosts.join(', ')}, valid until ${isoUtc(notAfter).slice(0, 10)}.

Set these, and start the service again${isNewAuthority ? '' : '; or, if they are set already, send it a SIGHUP'}:

  VIDIMUS_TLS_CERT=${certFile}
  VIDIMUS_TLS_KEY=${keyFile}

Install the authority on every till${isNewAuthority ? '' : ' that does not have it yet'}: ${caFile}

Customers' phones will not trust it, and wallets refuse it. For wallets the service needs a public name with a certificate
from a public authority; that name may well resolve to an address of your own network.`,
  }
}
