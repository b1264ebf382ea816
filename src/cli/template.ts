import { readFileSync } from 'node:fs'
import type { Deps } from '../deps.ts'
import { JSON_BYTES_MAX, parseArray, parseObject } from '../http/body.ts'
import { ApiError } from '../http/errors.ts'
import { type DcqlProblem, type DcqlQuery, findQueryProblem } from '../openid4vp/dcql.ts'
import type { Rule } from '../openid4vp/rules.ts'
import { BUILTIN_TEMPLATES } from '../templates/builtin.ts'
import { effectiveRules, findRulesProblem } from '../templates/rules.ts'
import { removeTemplate, saveTemplate } from '../templates/save.ts'
import { isTemplateKey, PURPOSE_CHARS_MAX, TITLE_CHARS_MAX } from '../templates/schema.ts'
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

const HELP = `usage: vidimus template put --tenant ID --key KEY --file dcql.json [--rules rules.json] [--purpose TEXT] [--title TEXT]
                           [--profile haip|plain|eu-av] [--json]
       vidimus template list [--tenant ID] [--json]
       vidimus template delete --tenant ID --key KEY [--json]

A template is a DCQL query under a name. Built-in ones are there for every tenant and cannot be replaced.

--rules    a JSON array of conditions on the merged claims, such as [{"claim":"nationalities","one_of":["DE","FR"]}]; a document that breaks one fails.
           Without --rules every age that is asked for must be reached. [] has no rules: the session completes whatever the document says.
--purpose  what the holder is told when a creation gives no purpose

example: vidimus template put --tenant ten_… --key membership --file membership.json --title "Member of the club" --purpose "To let you in"`

const FLAGS = {
  tenant: { type: 'string' },
  key: { type: 'string' },
  file: { type: 'string' },
  title: { type: 'string' },
  profile: { type: 'string' },
  rules: { type: 'string' },
  purpose: { type: 'string' },
} as const

const PROFILES = ['haip', 'plain', 'eu-av'] as const

const ACTS = {
  put: { flags: ['tenant', 'key', 'file', 'title', 'profile', 'rules', 'purpose'] },
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
  rules?: string
  purpose?: string
  json?: boolean
}): Promise<number> {
  const tenantId = required(flags.tenant, '--tenant')
  const key = required(flags.key, '--key')
  if (!isTemplateKey(key))
    throw new UsageError(`--key: "${key.slice(0, 80)}" is not of small letters, digits and underscores, 64 at most`)
  const title = words(flags.title ?? key, '--title', TITLE_CHARS_MAX)
  const purpose = flags.purpose === undefined ? undefined : words(flags.purpose, '--purpose', PURPOSE_CHARS_MAX)
  if (BUILTIN_TEMPLATES.has(key)) throw new CommandError(`${key} is a built-in template; choose another key`)
  const profile = flags.profile === undefined ? undefined : choice(flags.profile, PROFILES, '--profile')
  const query = readQuery(required(flags.file, '--file'))
  const rules = readRules(flags.rules, query)
  await withDeps(async deps => {
    await requireTenant(deps, tenantId)
    await saveTemplate(deps, { tenantId, key, title, query, profile, rules, purpose }, ACTOR)
  })
  print(flags.json ? JSON.stringify({ key, title, builtin: false }) : `Template ${key} is saved.`)
  return 0
}

function words(text: string, flag: string, charsMax: number): string {
  if (text.trim() === '') throw new UsageError(`${flag}: nothing but spaces; give some words, or leave it out`)
  return shortText(text, flag, charsMax)
}

function readQuery(file: string): DcqlQuery {
  const query = parseFile(file, parseObject, 'a DCQL query')
  refuseProblem(file, findQueryProblem(query))
  return query as DcqlQuery
}

/** The default, which holds when there is no file, must fit the query too. */
function readRules(file: string | undefined, query: DcqlQuery): Rule[] | undefined {
  const rules = file === undefined ? undefined : parseFile(file, parseArray, 'an array of rules')
  refuseProblem(file ?? '--rules', findRulesProblem(rules, query))
  return rules as Rule[] | undefined
}

function refuseProblem(place: string, problem: DcqlProblem | undefined): void {
  if (problem) throw new CommandError(`${place}: ${problem.path ? `${problem.path}: ` : ''}${problem.reason}`)
}

/** A template is held to what the API asks of a body: every session with it reads the query again. */
function parseFile<Value>(file: string, parse: (bytes: Uint8Array, name: string) => Value, wanted: string): Value {
  const bytes = readFile(file)
  if (bytes.length > JSON_BYTES_MAX) throw new CommandError(`${file} is larger than ${JSON_BYTES_MAX / 1024} KiB; shorten it`)
  try {
    return parse(bytes, file)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new CommandError(`${error.message}; give ${wanted}, as "vidimus template list --json" shows them`)
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
    ...[...BUILTIN_TEMPLATES.values()].map(({ key, title, purpose, profile, query }) => ({
      key,
      title: title.en,
      builtin: true,
      profile,
      query,
      rules: effectiveRules(query, null),
      purpose: purpose.en,
    })),
    ...own.map(({ key, title, query, profile, rules, purpose, updatedAt }) => ({
      key,
      title,
      builtin: false,
      profile: profile ?? 'haip',
      query,
      rules: effectiveRules(query, rules),
      purpose,
      updated_at: isoUtc(updatedAt),
    })),
  ]
  if (json) print(JSON.stringify({ data }))
  else
    print(
      table(
        ['KEY', 'TITLE', '', 'RULES', 'PURPOSE'],
        data.map(({ key, title, builtin, rules, purpose }) => [
          key,
          title,
          builtin ? 'built in' : 'own',
          rules.map(inShort).join(', ') || 'none',
          purpose ?? '',
        ]),
      ),
    )
  return 0
}

function inShort(rule: Rule): string {
  if ('is' in rule) return `${rule.claim} is ${rule.is}`
  return 'one_of' in rule
    ? `${rule.claim} is one of ${rule.one_of.length}`
    : `${rule.claim} is at least ${rule.age_at_least} years ago`
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
