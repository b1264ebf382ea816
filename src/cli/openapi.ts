import { createApp } from '../app.ts'
import { type Config, loadConfig } from '../config.ts'
import type { Deps } from '../deps.ts'
import { realWorld } from '../ground.ts'
import { describeRoutes } from '../http/openapi.ts'
import { createSealer } from '../seal.ts'
import { WebhookEvent } from '../verifications/schema.ts'
import { parseCall, print, UsageError } from './output.ts'

const HELP = `usage: vidimus openapi [--json]

Prints the OpenAPI document that the service also gives at /openapi.json; with --json on one line. It needs no data directory.

example: vidimus openapi > openapi.json`

export async function runOpenapi(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, {})
  if (values.help) return print(HELP)
  if (words.length) throw new UsageError(`openapi takes no "${words[0]}"`)
  const config = loadConfig(process.env)
  const document = describeRoutes(createApp(depsToListRoutes(config)).routes, config.publicUrl, WebhookEvent)
  return print(JSON.stringify(document, null, values.json ? 0 : 2))
}

/** What the routes need to be put together. None of them is called, so there is no database and no file. */
function depsToListRoutes(config: Config): Deps {
  const { random, now, resolve } = realWorld()
  const deps: Partial<Deps> = { config, random, now, resolve, sealer: createSealer(random(32), random) }
  return deps as Deps
}
