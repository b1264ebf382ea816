// Answers a test session as a wallet would, for whoever has no phone at hand. The documents are issued by the sandbox issuer of the data
// directory (VIDIMUS_DATA_DIR), so it runs on the machine of the service.
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { loadConfig } from '../src/config.ts'
import { createDeps, realWorld } from '../src/deps.ts'
import { makeHolder } from '../src/sandbox/issuer.ts'
import { PERSONAS, type PersonaId } from '../src/sandbox/personas.ts'
import { present } from '../src/sandbox/wallet.ts'

const HELP = `usage: sandbox-wallet.ts WALLET_URI [--persona ${Object.keys(PERSONAS).join('|')}]

example: ./scripts/bun scripts/sandbox-wallet.ts "openid4vp://authorize?client_id=…" --persona minor`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { persona: { type: 'string' }, help: { type: 'boolean' } },
})
const [walletUri] = positionals
const persona = (values.persona ?? 'adult') as PersonaId

if (values.help || !walletUri || !Object.hasOwn(PERSONAS, persona)) {
  console.error(HELP)
  process.exit(values.help ? 0 : 2)
}

const service = new URL(
  new URL(walletUri).searchParams.get('request_uri') ?? new URL(walletUri).searchParams.get('response_uri') ?? '',
)
const config = { ...loadConfig(process.env), publicUrl: service.href.replace(/\/wallet\/.*$/, '') }
const deps = createDeps(config, realWorld(), 'command')
const now = Date.now()
const { issuer } = await deps.sandbox()
const holder = await makeHolder(issuer, persona, now, count => new Uint8Array(randomBytes(count)))
await deps.close()

const { status, body } = await present(walletUri, holder, { now, fetch })
console.log(`${PERSONAS[persona].title.en}: the service answered ${status} ${JSON.stringify(body)}`)
