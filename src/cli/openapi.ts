import { parseCall, print } from './output.ts'

const HELP = `usage: vidimus openapi

Prints the OpenAPI document that the service also gives at /openapi.json.

example: vidimus openapi > openapi.json`

export async function runOpenapi(args: string[]): Promise<number> {
  const { values } = parseCall(args, {})
  if (values.help) return print(HELP)
  return 0
}
