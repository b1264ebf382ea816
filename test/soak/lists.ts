// Random XML documents against libxml2, up to a million of them, and lists of all kinds with some of their bytes changed: real
// ones where they lie beside the repository, and made ones. Half of the time for each: `bun test/soak/lists.ts [--seed N]
// [--minutes M]`.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, resolve } from 'node:path'
import type { ListKind, TrustList } from '../../src/trust-lists/list.ts'
import { readList } from '../../src/trust-lists/read-list.ts'
import { seeded } from '../helpers/seeded.ts'
import { makeIssuer, makeLote, makeSigner, makeVical } from '../trust-lists/make.ts'
import { makeEtsiList } from '../trust-lists/make-xml.ts'
import { findDifference, randomXml, withChanges } from '../trust-lists/random-xml.ts'
import { signedForm } from '../trust-lists/signed-form.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { progress } from './service.ts'

const REAL_LISTS = resolve(import.meta.dir, '../../../shared/vectors/trust-lists')
const KINDS: Record<string, ListKind> = { '.xml': 'etsi-xml', '.vical': 'vical', '.jwt': 'lote' }
const DOCUMENTS_MAX = 1_000_000
const VIOLATIONS_MAX = 10
const PROGRESS_EVERY = 20_000

type Sample = { name: string; kind: ListKind; bytes: Buffer; list: TrustList | undefined }

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const random = seeded(seed)
const violations: string[] = []
const startedAt = performance.now()
const isOver = (share: number) => performance.now() - startedAt >= minutes * 60_000 * share || violations.length >= VIOLATIONS_MAX

const counts = { documents: 0, plain: 0, lists: 0, changed: 0, still_read: 0, rss_mb_start: rssMb(), rss_mb_end: 0 }
const readMs: number[] = []

while (counts.documents < DOCUMENTS_MAX && !isOver(0.5)) compareDocument()
progress(`${counts.documents} documents, ${violations.length} violations`)
const samples = [...realLists(), ...(await madeLists())]
counts.lists = samples.length
while (!isOver(1)) changeList(samples[counts.changed % samples.length]!)
counts.rss_mb_end = rssMb()
process.exit(soakLine({ script: 'soak/lists', seed, minutes, counts, percentiles: { read: percentilesOf(readMs) }, violations }))

function compareDocument(): void {
  const { text, isPlain } = randomXml(random)
  const bytes = Buffer.from(text)
  const changed = withChanges(bytes, random)
  const nth = random.below(100)
  for (const each of [
    { bytes, nth, isPlain },
    { bytes: changed, nth, isPlain: isPlain && changed.equals(bytes) },
  ]) {
    const difference = findDifference(each)
    if (difference)
      violations.push(`document ${counts.documents}: ${JSON.stringify(each.bytes.toString('latin1'))}: ${difference}`)
  }
  if (isPlain) counts.plain++
  if (++counts.documents % PROGRESS_EVERY === 0) progress(`${counts.documents} documents`)
}

/** It is refused, or says what was signed. */
function changeList({ name, kind, bytes, list }: Sample): void {
  const changed = withChanges(bytes, random)
  const beganAt = performance.now()
  const read = readList(kind, changed)
  readMs.push(performance.now() - beganAt)
  if (++counts.changed % PROGRESS_EVERY === 0) progress(`${counts.changed} changed lists`)
  if (!read.ok) return
  counts.still_read++
  if (!list || !saysTheSame(read.list, list) || (kind === 'etsi-xml' && signedForm(changed) !== signedForm(bytes)))
    violations.push(`${name} is taken with other bytes: ${firstChange(bytes, changed)}`)
}

/** The certificates of a VICAL are not signed: which signer counts is decided by its fingerprint. */
function saysTheSame({ chain, ...read }: TrustList, { chain: signed, ...list }: TrustList): boolean {
  const isSigner = list.kind === 'vical' || Buffer.compare(chain[0]!, signed[0]!) === 0
  return isSigner && Bun.deepEquals(read, list)
}

function firstChange(bytes: Buffer, changed: Buffer): string {
  const at = bytes.findIndex((byte, i) => byte !== changed[i])
  return `at ${at}, ${changed.subarray(Math.max(0, at - 20), at + 40).toString('hex')}`
}

function realLists(): Sample[] {
  if (!existsSync(REAL_LISTS)) progress('../shared/vectors/trust-lists is not there: only made lists are changed')
  const names = existsSync(REAL_LISTS) ? readdirSync(REAL_LISTS) : []
  return names.flatMap(name => {
    const kind = KINDS[extname(name)]
    return kind ? [sample(name, kind, readFileSync(join(REAL_LISTS, name)))] : []
  })
}

async function madeLists(): Promise<Sample[]> {
  const [signer, issuer] = await Promise.all([makeSigner(), makeIssuer()])
  const certificate = issuer.der
  return [
    sample('a made ETSI list', 'etsi-xml', makeEtsiList({ providers: [{ services: [{ certificate }] }] }, signer)),
    sample('a made VICAL', 'vical', makeVical({ entries: [{ certificate }] }, signer)),
    sample('a made LoTE', 'lote', makeLote({}, signer)),
  ]
}

function sample(name: string, kind: ListKind, bytes: Uint8Array): Sample {
  const read = readList(kind, bytes)
  if (!read.ok) progress(`${name} is refused as ${read.code}, and must stay so`)
  return { name, kind, bytes: Buffer.from(bytes), list: read.ok ? read.list : undefined }
}

function rssMb(): number {
  return Math.round(process.memoryUsage.rss() / 1024 / 1024)
}
