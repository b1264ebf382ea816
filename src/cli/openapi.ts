import { createApp } from '../app.ts'
import { createSealer } from '../base/seal.ts'
import { type Config, loadConfig } from '../config.ts'
import type { Deps } from '../deps.ts'
import { realWorld } from '../ground.ts'
import { describeRoutes } from '../http/openapi.ts'
import { WebhookEvent } from '../verifications/schema.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand(
  {
    summary: 'print the OpenAPI document',
    about: `Prints the OpenAPI document that the service also serves at /openapi.json; with --json on one line.
It needs no data directory.`,
    example: 'vidimus openapi > openapi.json',
  },
  async ({ json }, { env, print }) => {
    const config = loadConfig(env)
    const document = describeRoutes(createApp(depsToListRoutes(config)).routes, config.publicUrl, WebhookEvent)
    // Printed as it is: its patterns contain characters that are not printable.
    print(JSON.stringify(document, null, json ? 0 : 2))
    return 0
  },
)

/** Enough to list the routes. None of them is called, so there is no database and no file. */
export function depsToListRoutes(config: Config): Deps {
  const { random, now, resolve } = realWorld()
  const deps: Partial<Deps> = { config, random, now, resolve, sealer: createSealer(random(32), random) }
  return deps as Deps
}
