import { readFileSync } from 'node:fs'
import type { Deps } from '../deps.ts'
import { JSON_BYTES_MAX, parseObject } from '../http/body.ts'
import { ApiError } from '../http/errors.ts'
import { type DcqlQuery, findQueryProblem } from '../openid4vp/dcql.ts'
import { BUILTIN_TEMPLATES } from '../templates/builtin.ts'
import { removeTemplate, saveTemplate } from '../templates/save.ts'
import { isTemplateKey } from '../templates/schema.ts'
import { listTemplates, type TemplateRow } from '../templates/store.ts'
import { isoUtc } from '../time.ts'
import { requireTenant } from './key.ts'
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
} from './output.ts'

const TITLE_CHARS_MAX = 100

const HELP = `usage: vidimus template put --tenant ID --key KEY --file dcql.json [--title TEXT] [--profile haip|plain|eu-av] [--json]
       vidimus template list [--tenant ID] [--json]
       vidimus template delete --tenant ID --key KEY [--json]

A template is a DCQL query under a name. Built-in ones are there for every tenant and cannot be replaced.

example: vidimus template put --tenant ten_… --key membership --file membership.json --title "Member of the club"`

const FLAGS = {
  tenant: { type: 'string' },
  key: { type: 'string' },
  file: { type: 'string' },
  title: { type: 'string' },
  profile: { type: 'string' },
} as const

const PROFILES = ['haip', 'plain', 'eu-av'] as const

const ACTS = {
  put: { flags: ['tenant', 'key', 'file', 'title', 'profile'] },
  list: { flags: ['tenant'] },
  delete: { flags: ['tenant', 'key'] },
} as const

export async function runTemplate(args: string[]): Promise<number> {
  const call = parseCall(args, FLAGS)
  const { values } = call
  if (values.help) return print(HELP)
  switch (actOf('template', call, ACTS).act) {
    case 'put':
      return await put(values)
    case 'list':
      return await list(values.tenant, values.json)
    case 'delete':
      return await remove(required(values.tenant, '--tenant'), required(values.key, '--key'), values.json)
  }
}

async function put(flags: {
  tenant?: string
  key?: string
  file?: string
  title?: string
  profile?: string
  json?: boolean
}): Promise<number> {
  const tenantId = required(flags.tenant, '--tenant')
  const key = required(flags.key, '--key')
  if (!isTemplateKey(key))
    throw new UsageError(`--key: "${key.slice(0, 80)}" is not of small letters, digits and underscores, 64 at most`)
  const title = shortText(flags.title ?? key, '--title', TITLE_CHARS_MAX)
  if (title.trim() === '') throw new UsageError('--title: nothing but spaces; give some words, or leave it out')
  if (BUILTIN_TEMPLATES.has(key)) throw new CommandError(`${key} is a built-in template; choose another key`)
  const profile = flags.profile === undefined ? undefined : choice(flags.profile, PROFILES, '--profile')
  const query = readQuery(required(flags.file, '--file'))
  await withDeps(async deps => {
    await requireTenant(deps, tenantId)
    await saveTemplate(deps, { tenantId, key, title, query, profile }, ACTOR)
  })
  print(flags.json ? JSON.stringify({ key, title, builtin: false }) : `Template ${key} is saved.`)
  return 0
}

function readQuery(file: string): DcqlQuery {
  const query = parseFile(file)
  const problem = findQueryProblem(query)
  if (problem) throw new CommandError(`${file}: ${problem.path ? `${problem.path}: ` : ''}${problem.reason}`)
  return query as DcqlQuery
}

/** A template is held to what the API asks of a body: every session with it reads the query again. */
function parseFile(file: string): object {
  const bytes = readFile(file)
  if (bytes.length > JSON_BYTES_MAX)
    throw new CommandError(`${file} is larger than ${JSON_BYTES_MAX / 1024} KiB; shorten the query`)
  try {
    return parseObject(bytes, file)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new CommandError(`${error.message}; give a DCQL query, as "vidimus template list --json" shows them`)
  }
}

function readFile(file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch {
    throw new CommandError(`cannot read ${file}; give the path of a JSON file`)
  }
}

async function list(tenantId: string | undefined, json = false): Promise<number> {
  const own = tenantId === undefined ? [] : await withDeps(deps => listOwn(deps, tenantId))
  const data = [
    ...[...BUILTIN_TEMPLATES.values()].map(({ key, title, profile, query }) => ({
      key,
      title: title.en,
      builtin: true,
      profile,
      query,
    })),
    ...own.map(({ key, title, query, profile, updatedAt }) => ({
      key,
      title,
      builtin: false,
      profile: profile ?? 'haip',
      query,
      updated_at: isoUtc(updatedAt),
    })),
  ]
  if (json) print(JSON.stringify({ data }))
  else
    print(
      table(
        ['KEY', 'TITLE', ''],
        data.map(({ key, title, builtin }) => [key, title, builtin ? 'built in' : 'own']),
      ),
    )
  return 0
}

async function listOwn(deps: Deps, tenantId: string): Promise<TemplateRow[]> {
  await requireTenant(deps, tenantId)
  return await listTemplates(deps.db, tenantId)
}

async function remove(tenantId: string, key: string, json = false): Promise<number> {
  if (BUILTIN_TEMPLATES.has(key)) throw new CommandError(`${key} is a built-in template and stays; delete only your own`)
  const removed = await withDeps(deps => removeTemplate(deps, tenantId, key, ACTOR))
  if (!removed)
    throw new CommandError(`tenant ${tenantId} has no template ${key}; "vidimus template list --tenant ${tenantId}" shows all`)
  print(json ? JSON.stringify({ key, deleted: true }) : `Template ${key} is deleted.`)
  return 0
}
