import { JSON_BYTES_MAX, parseArray, parseObject } from '../http/body.ts'
import { ApiError } from '../http/errors.ts'
import { type DcqlProblem, type DcqlQuery, findQueryProblem } from '../openid4vp/dcql/dcql.ts'
import type { Rule } from '../openid4vp/rules.ts'
import { presentTemplate } from '../templates/present.ts'
import { BUILTIN, readTemplates, withAliases } from '../templates/read.ts'
import { findRulesProblem } from '../templates/rules.ts'
import { removeTemplate, saveTemplate } from '../templates/save.ts'
import { isTemplateKey, PURPOSE_CHARS_MAX, TITLE_CHARS_MAX } from '../templates/schema.ts'
import { defineCommand, listing } from './command.ts'
import { checked, oneOf, optional, required, shortText, TENANT, text, toggle } from './flags.ts'
import { ACTOR, CommandError } from './output.ts'
import { readGivenFile } from './pem-file.ts'
import { withDeps, withTenant } from './with-deps.ts'

const templateKey = checked(text('KEY'), key =>
  isTemplateKey(key) ? undefined : `"${key.slice(0, 80)}" must be up to 64 small letters, digits and underscores`,
)

const words = (charsMax: number) =>
  checked(shortText('TEXT', charsMax), value =>
    value.trim() === '' ? 'nothing but spaces; give some words, or leave it out' : undefined,
  )

export const command = defineCommand(
  {
    summary: 'put, list and delete templates',
    subcommands: {
      put: {
        flags: {
          tenant: TENANT,
          key: required(templateKey),
          file: required(text('dcql.json')),
          rules: optional(
            text('rules.json'),
            `a JSON array of conditions on the merged claims, such as
             [{"claim":"nationalities","one_of":["DE","FR"]}]; a document that breaks one fails. By
             default every age that is asked for must be reached. [] has no rules: the session
             completes whatever the document says`,
          ),
          purpose: optional(words(PURPOSE_CHARS_MAX), 'shown to the holder when a creation gives no purpose'),
          title: optional(words(TITLE_CHARS_MAX)),
          profile: optional(oneOf(['haip', 'plain', 'eu-av'])),
        },
      },
      list: {
        flags: {
          tenant: optional(text('ID')),
          all: toggle('also KEY_mdoc and KEY_sd_jwt, the names of a built-in template in one form'),
        },
      },
      delete: { flags: { tenant: TENANT, key: required(text('KEY')) } },
    },
    about: `A template is a DCQL query under a name. Every tenant has the built-in ones, which cannot be
replaced.`,
    example: 'vidimus template put --tenant ten_… --key membership --file membership.json --purpose "To let you in"',
  },
  {
    async put({ tenant: tenantId, key, title = key, purpose, profile, file, rules: rulesFile }, shell) {
      const query = readQuery(file)
      const rules = readRules(rulesFile, query)
      const draft = { tenantId, key, title, query, profile, rules, purpose }
      await withTenant(shell, tenantId, deps => saveTemplate(deps, draft, ACTOR))
      return { json: { key, title, builtin: false }, text: `Template ${key} is saved.` }
    },

    async list({ tenant, all }, shell) {
      const known = tenant === undefined ? BUILTIN : await withTenant(shell, tenant, deps => readTemplates(deps, tenant))
      return listing((all ? withAliases(known) : known).map(presentTemplate), {
        KEY: template => template.key,
        TITLE: template => template.title,
        '': template => (template.builtin ? 'built in' : 'own'),
        FORMATS: template => template.formats.join(', '),
        RULES: template => template.rules.map(describeRule).join(', ') || 'none',
        PURPOSE: template => template.purpose ?? '',
      })
    },

    async delete({ tenant, key }, shell) {
      if (!(await withDeps(shell, deps => removeTemplate(deps, { tenantId: tenant, key }, ACTOR))))
        throw new CommandError(`tenant ${tenant} has no template ${key}; "vidimus template list --tenant ${tenant}" shows all`)
      return { json: { key, deleted: true }, text: `Template ${key} is deleted.` }
    },
  },
)

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

/** The limits of the API's bodies: every session with the template reads the query again. */
function parseFile<Value>(file: string, parse: (bytes: Uint8Array, name: string) => Value, wanted: string): Value {
  const bytes = readGivenFile(file, 'JSON file', JSON_BYTES_MAX)
  try {
    return parse(bytes, file)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new CommandError(`${error.message}; give ${wanted}, as "vidimus template list --json" shows them`)
  }
}

function describeRule(rule: Rule): string {
  if ('is' in rule) return `${rule.claim} is ${rule.is}`
  return 'one_of' in rule
    ? `${rule.claim} is one of ${rule.one_of.length}`
    : `${rule.claim} is at least ${rule.age_at_least} years ago`
}
