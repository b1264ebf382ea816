import { nearest } from './nearest.ts'
import { exitCodeOf, print, UsageError } from './output.ts'

type Verb = { does: string; run: (args: string[]) => Promise<number> }

// Each is loaded when it is called: a short command need not wait for all that a server consists of.
const VERBS = new Map<string, Verb>(
  Object.entries({
    serve: { does: 'start the service (the default)', run: async args => (await import('./serve.ts')).runServe(args) },
    demo: {
      does: 'show everything on one page, with throw-away data',
      run: async args => (await import('./demo.ts')).runDemo(args),
    },
    tenant: { does: 'create, list and change tenants', run: async args => (await import('./tenant.ts')).runTenant(args) },
    key: { does: 'create, list, roll and revoke API keys', run: async args => (await import('./key.ts')).runKey(args) },
    device: { does: 'register, list and revoke tills', run: async args => (await import('./device.ts')).runDevice(args) },
    'webhook-secret': {
      does: 'show and rotate the secret that signs webhooks',
      run: async args => (await import('./webhook-secret.ts')).runWebhookSecret(args),
    },
    deliveries: {
      does: 'list and replay webhooks',
      run: async args => (await import('./deliveries.ts')).runDeliveries(args),
    },
    listen: {
      does: 'forward results to a server under development',
      run: async args => (await import('./listen.ts')).runListen(args),
    },
    template: { does: 'put, list and delete templates', run: async args => (await import('./template.ts')).runTemplate(args) },
    trust: { does: 'add, list and remove issuers that count', run: async args => (await import('./trust.ts')).runTrust(args) },
    signing: {
      does: 'show, request and import the certificate wallets see',
      run: async args => (await import('./signing.ts')).runSigning(args),
    },
    tls: { does: 'make certificates for https on a local network', run: async args => (await import('./tls.ts')).runTls(args) },
    user: { does: 'list, invite and reset users of the dashboard', run: async args => (await import('./user.ts')).runUser(args) },
    doctor: {
      does: 'tell what would stop a real wallet or webhook',
      run: async args => (await import('./doctor.ts')).runDoctor(args),
    },
    audit: { does: 'verify and export the audit chain', run: async args => (await import('./audit.ts')).runAudit(args) },
    backup: {
      does: 'copy the database, checked, while the service runs',
      run: async args => (await import('./backup.ts')).runBackup(args),
    },
    restore: {
      does: 'put a backup in the place of the database',
      run: async args => (await import('./restore.ts')).runRestore(args),
    },
    rekey: { does: 'make a new master key', run: async args => (await import('./rekey.ts')).runRekey(args) },
    upgrade: {
      does: 'bring the database up to date, or tell what that would do',
      run: async args => (await import('./upgrade.ts')).runUpgrade(args),
    },
    openapi: { does: 'print the OpenAPI document', run: async args => (await import('./openapi.ts')).runOpenapi(args) },
    version: { does: 'print versions', run: async args => (await import('./version.ts')).runVersion(args) },
  } satisfies Record<string, Verb>),
)

const HELP = `Vidimus asks digital identity wallets for verified claims.

usage: vidimus [VERB] [--json] [--help] [--version]

${[...VERBS].map(([verb, { does }]) => `  ${verb.padEnd(16)}${does}`).join('\n')}

Every verb explains itself with --help. All of them work beside a running server, but restore, rekey and upgrade, which need it stopped.

example: vidimus tenant create --name "Corner shop"`

/** Runs one call and gives its exit code. */
export async function run(args: string[]): Promise<number> {
  // EPIPE: whoever read the answer has seen enough, as in "vidimus template list | head".
  process.stdout.once('error', (error: { code?: string }) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  try {
    const [first, ...rest] = args[0] === '--version' ? ['version', ...args.slice(1)] : args
    if (first === '--help' || first === '-h' || first === 'help') return print(HELP)
    const isServe = first === undefined || first.startsWith('-')
    const verb = VERBS.get(isServe ? 'serve' : first)
    if (!verb) {
      const meant = nearest(first ?? '', [...VERBS.keys()])
      throw new UsageError(`there is no verb "${first?.slice(0, 40)}"${meant ? `; did you mean ${meant}?` : ''}`)
    }
    return await verb.run(isServe ? args : rest)
  } catch (error) {
    return exitCodeOf(error)
  }
}
