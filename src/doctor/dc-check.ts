import { isoUtc } from '../base/time.ts'
import { ok, warning } from '../db/check.ts'
import { lifeOf } from '../signing/certificate.ts'
import { type ReaderCertificate, readReaders } from '../signing/readers.ts'
import { isLocalHost, readOrigins } from '../tenants/origins.ts'
import type { Scene } from './scene.ts'
import { notYet, statesOf } from './signing-checks.ts'

/** The wallet call of browsers: whether it exists on our pages, and what wallets get. */
export async function checkDcApi({ deps, tenants }: Scene) {
  const { publicUrl, dcApi, readerAuth } = deps.config
  if (dcApi.mode === 'off') return ok('dc_off')
  const states = await statesOf(deps)
  if (!states) return notYet()
  const { protocol, hostname } = URL.parse(publicUrl) ?? {}
  // Browsers have it in secure contexts only (W3C Digital Credentials).
  if (protocol === 'http:' && !isLocalHost(hostname ?? '')) return warning('dc_plain', { publicUrl })
  const isSelfMade = states[0].authority !== null
  if (dcApi.mode === 'signed' && isSelfMade) return warning('dc_self_signed')
  const readers = await readReaders(deps)
  const ending = readers.find(reader => lifeOf(reader, deps.now()) !== 'good')
  if (ending) return endingReader(ending, deps.now())
  return ok('dc_offered', {
    protocols: protocolsOf(dcApi.mode, isSelfMade),
    isSelfMade,
    isReader: !isSelfMade && (readerAuth === 'access' || (readerAuth === 'auto' && readers.length === 0)),
    readers: readers.map(({ subject }) => subject),
    origins: await countOrigins({ deps, tenants }),
  })
}

function endingReader({ subject, notAfter, owner }: ReaderCertificate, at: number) {
  const command = `vidimus signing import --reader --chain CHAIN.pem${owner === null ? '' : ` --tenant ${owner}`}`
  return warning('reader_ending', { subject, day: isoUtc(notAfter).slice(0, 10), hasEnded: notAfter <= at, command })
}

function protocolsOf(mode: 'auto' | 'signed' | 'unsigned' | 'iso', isSelfMade: boolean): string[] {
  if (mode === 'iso') return ['org-iso-mdoc']
  const isSigned = mode === 'signed' || (mode === 'auto' && !isSelfMade)
  return [`openid4vp-v1-${isSigned ? 'signed' : 'unsigned'}`, 'org-iso-mdoc']
}

async function countOrigins({ deps, tenants }: Pick<Scene, 'deps' | 'tenants'>): Promise<number> {
  const lists = await Promise.all((await tenants).map(({ id }) => readOrigins(deps, { tenantId: id, environment: 'live' })))
  return lists.flat().length
}
