// Schemathesis against the service and its own document, as a key, as a device and without a credential: whatever it finds is a
// mismatch. `bun test/fuzz/openapi.ts [OPTIONS OF SCHEMATHESIS]`, after `pip install schemathesis` (written for 4.32).
import { join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { vidimusJson } from '../helpers/cli.ts'
import { serviceOn, shopIn } from '../soak/service.ts'

const SETTINGS = join(import.meta.dir, 'openapi')

const schemathesis = Bun.which('schemathesis')
if (!schemathesis) {
  process.stderr.write('schemathesis is not installed; "pip install schemathesis" installs it\n')
  process.exit(1)
}

const dir = temporaryDir()
const { id: tenant, key } = await shopIn(dir)
const server = await serviceOn(dir)
const { url } = server
const callers = { 'an API key': key, 'a device': await deviceToken(), 'no credential': undefined }

const found: string[] = []
for (const [name, token] of Object.entries(callers)) {
  process.stdout.write(`\n== with ${name}\n`)
  if ((await fuzz(token)) !== 0) found.push(name)
}
await server.stop()
process.stdout.write(found.length ? `\nmismatches with ${found.join(', ')}\n` : '\nno mismatch\n')
process.exit(found.length ? 1 : 0)

function fuzz(token: string | undefined): Promise<number> {
  const authorization = token === undefined ? [] : ['--header', `Authorization: Bearer ${token}`]
  const args = [
    `--config-file=${join(SETTINGS, 'schemathesis.toml')}`,
    'run',
    `${url}/openapi.json`,
    ...authorization,
    ...process.argv.slice(2),
  ]
  const env = { ...process.env, SCHEMATHESIS_HOOKS: join(SETTINGS, 'hooks.py') }
  return Bun.spawn([schemathesis!, ...args], { cwd: dir, env, stdout: 'inherit', stderr: 'inherit' }).exited
}

async function deviceToken(): Promise<string> {
  const register = ['device', 'register', '--tenant', tenant, '--env', 'test', '--name', 'Till', '--templates', 'age_over_18']
  const { pairing_code } = await vidimusJson<{ pairing_code: string }>(dir, ...register)
  const answer = await fetch(`${url}/v1/devices/enroll`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ pairing_code }),
  })
  return ((await answer.json()) as { access_token: string }).access_token
}
