import { runAudit } from './audit.ts'
import { runKey } from './key.ts'
import { runOpenapi } from './openapi.ts'
import { exitCodeOf, print, UsageError } from './output.ts'
import { runServe } from './serve.ts'
import { runTemplate } from './template.ts'
import { runTenant } from './tenant.ts'
import { runVersion } from './version.ts'

type Verb = { run: (args: string[]) => Promise<number>; does: string }

const VERBS = new Map<string, Verb>(
  Object.entries({
    serve: { run: runServe, does: 'start the service (the default)' },
    tenant: { run: runTenant, does: 'create, list and change tenants' },
    key: { run: runKey, does: 'create, list, roll and revoke API keys' },
    template: { run: runTemplate, does: 'put, list and delete templates' },
    audit: { run: runAudit, does: 'verify and export the audit chain' },
    openapi: { run: runOpenapi, does: 'print the OpenAPI document' },
    version: { run: runVersion, does: 'print versions' },
  }),
)

const HELP = `Vidimus asks digital identity wallets for verified claims.

usage: vidimus [VERB] [--json] [--help]

${[...VERBS].map(([verb, { does }]) => `  ${verb.padEnd(10)}${does}`).join('\n')}

Every verb explains itself with --help. All of them work beside a running server.

example: vidimus tenant create --name "Corner shop"`

/** Runs one call and gives its exit code. */
export async function run(args: string[]): Promise<number> {
  try {
    const [first, ...rest] = args
    if (first === '--help' || first === '-h' || first === 'help') {
      print(HELP)
      return 0
    }
    if (first === undefined || first.startsWith('-')) return await runServe(args)
    const verb = VERBS.get(first)
    if (!verb) throw new UsageError(`there is no verb "${first.slice(0, 40)}"`)
    return await verb.run(rest)
  } catch (error) {
    return exitCodeOf(error)
  }
}
