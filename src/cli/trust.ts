import { readFileSync } from 'node:fs'
import { AnchorExists, addAnchors, presentAnchor, readAnchors, removeAnchor, TrustProblem } from '../trust/settings.ts'
import {
  ACTOR,
  actOf,
  CommandError,
  choice,
  parseCall,
  print,
  required,
  shortText,
  table,
  UsageError,
  withDeps,
  withNewDeps,
} from './output.ts'

const HELP = `usage: vidimus trust add FILE.pem --env test|live [--label TEXT] [--for VCT-OR-DOCTYPE] [--mode iso|pkix]
                         [--crl off|warn|require] [--json]
       vidimus trust list [--json]
       vidimus trust remove ID [--json]

Whose documents count. An anchor is the issuer's root, an authority below it, or one signer's own certificate. With --for it counts for that
type of document only; call it once for each type. Mode iso asks the chain for the profile of ISO/IEC 18013-5, pkix for a sound chain. Without
--mode the type of the document decides: iso for driving licences and photo IDs, pkix for everything else.
Revocation lists that the issuer's certificates name are read. --crl says what happens when one cannot be: require refuses the document (the default in
mode iso), warn adds a warning (the default in mode pkix), off reads none.
Test sessions trust the built-in sandbox issuer as well; live sessions trust nobody until you add an anchor.

example: vidimus trust add pid-issuer-ca.pem --env live --label "PID issuer" --for urn:eudi:pid:1`

const FLAGS = {
  env: { type: 'string' },
  label: { type: 'string' },
  // Several are refused: of a flag that is given twice the parser would keep the last without a word.
  for: { type: 'string', multiple: true },
  mode: { type: 'string' },
  crl: { type: 'string' },
} as const

const ACTS = {
  add: { flags: ['env', 'label', 'for', 'mode', 'crl'], word: 'the file' },
  list: { flags: [] },
  remove: { flags: [], word: 'the id of the anchor' },
}

const FILE_BYTES_MAX = 256 * 1024
const LABEL_CHARS_MAX = 100
const TYPE_CHARS_MAX = 300

export async function runTrust(args: string[]): Promise<number> {
  const call = parseCall(args, FLAGS)
  const { values } = call
  if (values.help) return print(HELP)
  const { act, word } = actOf('trust', call, ACTS)
  switch (act) {
    case 'add':
      return await add(word, values)
    case 'list':
      return await list(values.json)
    case 'remove':
      return await remove(word, values.json)
  }
}

async function add(
  file: string,
  flags: { env?: string; label?: string; for?: string[]; mode?: string; crl?: string; json?: boolean },
): Promise<number> {
  const environment = choice(required(flags.env, '--env'), ['test', 'live'], '--env')
  const mode = flags.mode === undefined ? undefined : choice(flags.mode, ['iso', 'pkix'], '--mode')
  const crl = flags.crl === undefined ? undefined : choice(flags.crl, ['off', 'warn', 'require'], '--crl')
  const label = flags.label === undefined ? undefined : shortText(flags.label, '--label', LABEL_CHARS_MAX)
  const trustedFor = oneType(flags.for)
  const pem = readPemFile(file)
  if (/-----BEGIN (\w+ )*PRIVATE KEY-----/.test(pem) && !pem.includes('-----BEGIN CERTIFICATE-----'))
    throw new CommandError(`${file}: this is a private key, not a certificate; give the certificate of the issuer`)
  try {
    const rows = await withNewDeps(deps => addAnchors(deps, { pem, environment, label, trustedFor, mode, crl }, ACTOR))
    if (flags.json) return print(JSON.stringify({ data: rows.map(presentAnchor) }))
    return print(
      rows
        .map(row => `${row.label} is trusted in ${row.environment} sessions for ${row.trustedFor ?? 'every type'} (${row.id}).`)
        .join('\n'),
    )
  } catch (error) {
    if (error instanceof AnchorExists) throw new CommandError(`${file}: ${error.message}; "vidimus trust remove" takes it away`)
    if (error instanceof TrustProblem) throw new CommandError(`${file}: ${error.message}`)
    throw error
  }
}

function oneType(given: string[] | undefined): string | undefined {
  const [type, ...others] = given ?? []
  if (type === undefined) return undefined
  if (others.length > 0 || type.includes(',')) throw new UsageError('--for takes one type; call it once for each type')
  return shortText(type, '--for', TYPE_CHARS_MAX)
}

export function readPemFile(file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new CommandError(`cannot read ${file}; give the path of a PEM file`)
  }
  if (text.length > FILE_BYTES_MAX) throw new CommandError(`${file} is larger than ${FILE_BYTES_MAX / 1024} KiB`)
  return text
}

async function list(json = false): Promise<number> {
  const rows = await withDeps(readAnchors)
  if (json) return print(JSON.stringify({ data: rows.map(presentAnchor) }))
  if (rows.length === 0)
    return print(
      'No issuers are trusted yet, apart from the sandbox issuer in test sessions.\nNext: vidimus trust add FILE.pem --env live',
    )
  const shown = rows.map(presentAnchor)
  return print(
    table(
      ['ID', 'ENV', 'LABEL', 'FOR', 'MODE', 'VALID UNTIL'],
      shown.map(each => [
        each.id,
        each.environment,
        each.label,
        each.trusted_for ?? 'every type',
        each.mode === 'auto' ? 'by type' : each.mode,
        each.not_after.slice(0, 10),
      ]),
    ),
  )
}

async function remove(id: string, json = false): Promise<number> {
  if (!(await withDeps(deps => removeAnchor(deps, id, ACTOR))))
    throw new CommandError(`there is no anchor ${id}; "vidimus trust list" shows all`)
  return print(json ? JSON.stringify({ id, removed: true }) : `Anchor ${id} is no longer trusted.`)
}
