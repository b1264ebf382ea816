// An export is JSON lines: a heading with the public key and the signed checkpoints, then one line per record, with salt and details where
// they still exist. It can be verified without the database and without any secret.
import { FormatRegistry, type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Deps } from '../deps.ts'
import { isoUtc } from '../time.ts'
import { type ChainProblem, chainVerifier } from './chain.ts'
import { listCheckpoints } from './store.ts'
import { type AuditVerdict, readChain } from './verify.ts'

FormatRegistry.Set('audit-hash', value => /^[0-9a-f]{64}$/.test(value))
const Hash = Type.String({ format: 'audit-hash' })
const Seq = Type.Integer({ minimum: 1 })

const Heading = Type.Object({
  vidimus_audit: Type.Literal(1),
  exported_at: Type.String(),
  public_key: Type.String({ maxLength: 200 }),
  checkpoints: Type.Array(Type.Object({ seq: Seq, at: Type.Integer(), hash: Hash, signature: Type.String({ maxLength: 200 }) })),
})

const Line = Type.Object({
  seq: Seq,
  at: Type.Integer(),
  tenantId: Type.String(),
  actor: Type.String(),
  action: Type.String(),
  subject: Type.String(),
  commitment: Hash,
  previous: Hash,
  hash: Hash,
  salt: Type.Optional(Type.String()),
  details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})

export async function* exportAudit(deps: Pick<Deps, 'db' | 'sealer' | 'audit' | 'now'>): AsyncGenerator<string> {
  const heading: Static<typeof Heading> = {
    vidimus_audit: 1,
    exported_at: isoUtc(deps.now()),
    public_key: deps.audit.publicKey(),
    checkpoints: await listCheckpoints(deps.db),
  }
  yield JSON.stringify(heading)
  for await (const { record, disclosed } of readChain(deps)) {
    const line: Static<typeof Line> = { ...record, ...(disclosed && { salt: hex(disclosed.salt), details: disclosed.details }) }
    yield JSON.stringify(line)
  }
}

export async function verifyExport(lines: AsyncIterable<string>): Promise<AuditVerdict & { publicKey: string }> {
  let verifier: ReturnType<typeof chainVerifier> | undefined
  let publicKey = ''
  let number = 0
  for await (const text of lines) {
    number++
    if (text === '') continue
    if (!verifier) {
      const heading = parse(Heading, text)
      if (!heading) return unreadable(number, 'the file does not begin with the heading of an audit export')
      publicKey = heading.public_key
      verifier = chainVerifier(publicKey, heading.checkpoints)
      continue
    }
    const line = parse(Line, text)
    if (!line)
      return { ...verifier.end(), publicKey, problem: { seq: number - 1, problem: `line ${number} is not an audit record` } }
    const { salt, details, ...record } = line
    const problem = verifier.next(record, salt !== undefined && details ? { salt: Buffer.from(salt, 'hex'), details } : undefined)
    if (problem) return { ...verifier.end(), publicKey, problem }
  }
  return verifier ? { ...verifier.end(), publicKey } : unreadable(1, 'the file is empty')
}

function parse<T extends typeof Heading | typeof Line>(schema: T, text: string): Static<T> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Value.Check(schema, value) ? value : undefined
  } catch {
    return undefined
  }
}

const unreadable = (seq: number, problem: string): AuditVerdict & { publicKey: string } => ({
  count: 0,
  head: '',
  publicKey: '',
  problem: { seq, problem } satisfies ChainProblem,
})

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
