// Certificates for https on a network without public names: an authority of this machine, which is
// installed on tills once, and certificates under it.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../base/ids.ts'
import { publish } from '../../db/files.ts'
import { type Authority, issueAuthority, issueLeaf } from '../../signing/authority.ts'

/** The longest lifetime that browsers and phones accept. */
const LEAF_DAYS = 397
/** Limit of a common name (RFC 5280, upper bounds). Clients read the alternative names. */
const NAME_CHARS_MAX = 64

/** The message is one sentence with the remedy. */
export class LocalTlsProblem extends Error {
  override name = 'LocalTlsProblem'
}

export type LocalTls = {
  certFile: string
  keyFile: string
  caFile: string
  hosts: string[]
  notAfter: number
  isNewAuthority: boolean
}

type CertificateOptions = {
  folder: string
  hosts: string[] | undefined
  hostsDefault: string[]
  at: number
  random: Random
}

/** Never replaces an authority: tills have it installed. */
export async function makeLocalTls({ folder, hosts, hostsDefault, at, random }: CertificateOptions): Promise<LocalTls> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem'), caFile: join(folder, 'ca.pem') }
  const caKeyFile = join(folder, 'ca.key')
  const found = findAuthority(files.caFile, caKeyFile, at)
  const renewed = findLeaf(files, found)
  const authority = found ?? (await writeAuthority(files.caFile, caKeyFile, { at, random }))
  const names = hosts ?? renewed ?? hostsDefault
  const name = (names[0] ?? 'localhost').slice(0, NAME_CHARS_MAX)
  const leaf = await issueLeaf({ authority, name, hosts: names, days: LEAF_DAYS, forServers: true, at, random })
  writeWhole(files.keyFile, pemOf(leaf.privateKey), 0o600)
  writeWhole(files.certFile, leaf.chain, 0o644)
  return { ...files, hosts: names, notAfter: leaf.notAfter, isNewAuthority: found === undefined }
}

function findAuthority(caFile: string, caKeyFile: string, at: number): Authority | undefined {
  if (!existsSync(caFile) && !existsSync(caKeyFile)) return undefined
  const lost = `the authority in ${caFile} and ${caKeyFile} is incomplete; put both back, or choose another directory with --out`
  try {
    const chain = readFileSync(caFile, 'utf8')
    const privateKey = createPrivateKey(readFileSync(caKeyFile, 'utf8'))
    const certificate = new X509Certificate(chain)
    if (!certificate.ca || !certificate.checkPrivateKey(privateKey)) throw new LocalTlsProblem(lost)
    if (certificate.validToDate.getTime() <= at)
      throw new LocalTlsProblem(`the authority in ${caFile} has expired; make another in a new directory with --out`)
    return { chain, privateKey }
  } catch (error) {
    throw error instanceof LocalTlsProblem ? error : new LocalTlsProblem(lost)
  }
}

/** The names of the certificate to renew. One of another authority is not replaced. */
function findLeaf({ certFile, keyFile }: Pick<LocalTls, 'certFile' | 'keyFile'>, authority: Authority | undefined) {
  if (!existsSync(certFile) && !existsSync(keyFile)) return undefined
  const foreign = `${certFile} or ${keyFile} is there and not from this authority; choose another directory with --out`
  try {
    if (!authority) throw new LocalTlsProblem(foreign)
    const leaf = new X509Certificate(readFileSync(certFile, 'utf8'))
    if (!leaf.verify(new X509Certificate(authority.chain).publicKey)) throw new LocalTlsProblem(foreign)
    return hostsOf(leaf)
  } catch (error) {
    throw error instanceof LocalTlsProblem ? error : new LocalTlsProblem(foreign)
  }
}

const hostsOf = ({ subjectAltName = '' }: X509Certificate): string[] =>
  [...subjectAltName.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(([, host]) => host ?? '')

/** The key first: after a kill in between, no till can have installed the certificate. */
async function writeAuthority(caFile: string, caKeyFile: string, making: { at: number; random: Random }): Promise<Authority> {
  const suffix = Buffer.from(making.random(4)).toString('hex')
  const authority = await issueAuthority({ ...making, name: `Vidimus local authority ${suffix}` })
  writeWhole(caKeyFile, pemOf(authority.privateKey), 0o600)
  writeWhole(caFile, authority.chain, 0o644)
  return authority
}

const pemOf = (key: KeyObject): string => key.export({ format: 'pem', type: 'pkcs8' }).toString().trim()

function writeWhole(file: string, text: string, mode: number): void {
  // A file that was left behind would keep its mode.
  rmSync(`${file}.part`, { force: true })
  writeFileSync(`${file}.part`, `${text}\n`, { mode })
  publish(`${file}.part`, file)
}
