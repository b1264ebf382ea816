// An export is JSON lines: a heading with the public key and the signed checkpoints, then one line per record, with
// salt and details where they still exist. It ends with a signed record and can be verified without the database and
// without any secret. No byte can be changed unnoticed. It does not prove that it is the newest export, nor whose key
// signed it: compare head and public key with your notes.
import { FormatRegistry, type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Unsealing } from '../ground.ts'
import { type ChainProblem, type Checkpoint, chainVerifier, isErasure, readPublicKey } from './chain.ts'
import type { Acting, Deps } from './deps.ts'
import { listUnlinked } from './link-store.ts'
import { findLastCheckpoint, listCheckpoints, listRecords } from './store.ts'
import { type AuditVerdict, readChain } from './verify.ts'

const SIGN_ATTEMPTS_MAX = 100
const UNSIGNED_MAX = 1000

FormatRegistry.Set('audit-hex', value => /^[0-9a-f]{64}$/.test(value))
FormatRegistry.Set('audit-base64', value => Buffer.from(value, 'base64').toString('base64') === value)
const Hex = Type.String({ format: 'audit-hex' })
const Base64 = Type.String({ format: 'audit-base64', maxLength: 200 })
const Seq = Type.Integer({ minimum: 1 })

const exactly = { additionalProperties: false }

const Heading = Type.Object(
  {
    vidimus_audit: Type.Literal(1),
    public_key: Base64,
    checkpoints: Type.Array(Type.Object({ seq: Seq, at: Type.Integer(), hash: Hex, signature: Base64 }, exactly)),
  },
  exactly,
)

const Line = Type.Object(
  {
    seq: Seq,
    at: Type.Integer(),
    tenantId: Type.String(),
    actor: Type.String(),
    action: Type.String(),
    subject: Type.String(),
    commitment: Hex,
    previous: Hex,
    hash: Hex,
    salt: Type.Optional(Hex),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  exactly,
)

type ExportDeps = Unsealing & Acting & Pick<Deps, 'openSnapshot' | 'looseEntries'>

/** Signs the head and yields the lines up to it. Others may write meanwhile. */
export async function* exportAudit(deps: ExportDeps): AsyncGenerator<string, void, undefined> {
  const { signedTo, snapshot } = await openSigned(deps)
  try {
    const checkpoints = await listCheckpoints(snapshot.db)
    yield headingOf(
      deps.audit.publicKey(),
      checkpoints.filter(({ seq }) => seq <= signedTo),
    )
    for await (const { record, disclosed } of readChain({ ...deps, db: snapshot.db })) {
      if (record.seq > signedTo) return
      const line: Static<typeof Line> = {
        ...record,
        ...(disclosed && { salt: Buffer.from(disclosed.salt).toString('hex'), details: disclosed.details }),
      }
      yield JSON.stringify(line)
    }
  } finally {
    await snapshot.close()
  }
}

type Signed = { signedTo: number; snapshot: Awaited<ReturnType<Deps['openSnapshot']>> }

/**
 * Records written between signature and snapshot are left out of the export. On SQLite an erasure may be among them: it would
 * leave details missing without the record that explains it, so then both are made again.
 */
async function openSigned({ openSnapshot, write, looseEntries, audit, now }: ExportDeps): Promise<Signed> {
  for (let attempt = 1; attempt <= SIGN_ATTEMPTS_MAX; attempt++) {
    let signedTo = 0
    const snapshot = await openSnapshot(async () => {
      const last = await write(async tx => {
        await audit.checkpoint(tx, now())
        return await findLastCheckpoint(tx)
      })
      signedTo = last?.seq ?? 0
    })
    const isUsable = await isComplete(snapshot.db, signedTo, looseEntries !== undefined).catch(async error => {
      await snapshot.close()
      throw error
    })
    if (isUsable) return { signedTo, snapshot }
    await snapshot.close()
  }
  throw new Error('too much was written to sign a head and read it')
}

async function isComplete(db: Deps['db'], signedTo: number, linksLater: boolean): Promise<boolean> {
  const unsigned = await listRecords(db, signedTo, UNSIGNED_MAX)
  const unlinked = linksLater ? await listUnlinked(db) : []
  return unsigned.length < UNSIGNED_MAX && ![...unsigned, ...unlinked].some(isErasure)
}

function headingOf(publicKey: string, checkpoints: Checkpoint[]): string {
  const heading: Static<typeof Heading> = { vidimus_audit: 1, public_key: publicKey, checkpoints }
  return JSON.stringify(heading)
}

export async function verifyExport(lines: AsyncIterable<string>): Promise<AuditVerdict> {
  let verifier: ReturnType<typeof chainVerifier> | undefined
  let publicKey = ''
  let number = 0
  for await (const text of lines) {
    number++
    if (!verifier) {
      const heading = parse(Heading, text)
      const key = heading && readPublicKey(heading.public_key)
      if (!key) return unreadable('the file does not begin with the heading of an audit export')
      publicKey = heading.public_key
      verifier = chainVerifier(key, heading.checkpoints)
      continue
    }
    const problem = checkLine(verifier, text, number)
    if (problem) return { ...verifier.end(), publicKey, problem }
  }
  if (!verifier) return unreadable('the file is empty')
  const end = verifier.end()
  const unsigned = end.signedTo < end.count ? { seq: end.signedTo + 1, problem: 'no signed checkpoint covers it' } : undefined
  return { ...end, publicKey, problem: end.problem ?? unsigned }
}

function checkLine(verifier: ReturnType<typeof chainVerifier>, text: string, number: number): ChainProblem | undefined {
  const line = parse(Line, text)
  if (!line) return { seq: number - 1, problem: `line ${number} is not as an export writes it` }
  const { salt, details, ...record } = line
  // An erasure removes both; one without the other fails the commitment.
  const disclosed = salt || details ? { salt: Buffer.from(salt ?? '', 'hex'), details: details ?? {} } : undefined
  return verifier.next(record, disclosed)
}

/** Printed again it must be the same text: a doubled member or another escape could show readers something else. */
function parse<T extends typeof Heading | typeof Line>(schema: T, text: string): Static<T> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Value.Check(schema, value) && JSON.stringify(value) === text ? value : undefined
  } catch {
    return undefined
  }
}

const unreadable = (problem: string): AuditVerdict => ({
  count: 0,
  head: '',
  signedTo: 0,
  publicKey: '',
  problem: { seq: 0, problem },
})
