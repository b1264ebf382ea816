import { mkdtempSync, rmSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import encodeQR from 'qr'
import { type Config, loadConfig } from '../config.ts'
import { demoCommands } from '../demo/commands.ts'
import { furnishDemo } from '../demo/furnish.ts'
import { startReceiver } from '../demo/receiver.ts'
import { createDeps } from '../deps.ts'
import { parseAllowList } from '../egress/addresses.ts'
import { realWorld } from '../ground.ts'
import { openSetup } from '../people/users/setup.ts'
import { start } from '../service/start.ts'
import { addOrigin, isLocalHost, mayAsk } from '../tenants/origins.ts'
import { defineCommand } from './command.ts'
import { numberFrom, optional, toggle } from './flags.ts'
import { CommandError, type Shell } from './output.ts'
import { stopSignal } from './serve.ts'

/** Not serve's port: pages of one origin share the browser's storage, and so a till's pairing. */
const PORT_DEFAULT = 3030

export const command = defineCommand(
  {
    summary: 'show everything on one page, with throw-away data',
    flags: {
      port: optional(numberFrom(0, 65_535), `by default PORT, ${PORT_DEFAULT}, or one that is free`),
      'no-open': toggle('do not open the browser'),
    },
    about: `Shows everything on one page: a till, an online shop, a phone and the back office. It runs on a
directory of its own, which is deleted afterwards, and needs no internet. Prints the address, a QR
code of it where other devices can reach it, and the commands that do the same. Stop it with Ctrl-C.
HOST=0.0.0.0 lets other devices of your network in.`,
    example: 'vidimus demo --no-open',
  },
  async ({ port, noOpen, json }, { env, print }) => {
    const stopped = stopSignal()
    const dataDir = mkdtempSync(join(tmpdir(), 'vidimus-demo-'))
    const remove = () => rmSync(dataDir, { recursive: true, force: true })
    // However it ends.
    process.once('exit', remove)
    try {
      const { stop, ...shown } = await startDemo({ port, dataDir, env })
      print(json ? JSON.stringify({ ...shown, data_dir: dataDir }) : welcome(shown))
      if (!noOpen) openBrowser(shown.local_url)
      await stopped
      await stop()
    } finally {
      remove()
    }
    return 0
  },
)

type DemoOptions = { port: number | undefined; dataDir: string; env: Shell['env'] }

/** `local_url`: over http, only pages from localhost have the cryptography that wallets need. */
type Shown = { url: string; local_url: string; key: string; commands: string[]; setup_url: string | null }

async function startDemo(wanted: DemoOptions): Promise<Shown & { stop: () => Promise<void> }> {
  const world = realWorld()
  const receiver = startReceiver(world.now)
  try {
    const deps = await createDeps(demoConfig(wanted, receiver.port), world, 'server')
    const demo = await furnishDemo(deps, receiver)
    const service = await start(deps, { demo })
    const { publicUrl } = deps.config
    const localUrl = service.url.replace(/(?<=\/\/)(0\.0\.0\.0|127\.0\.0\.1|\[::1?\])/, 'localhost')
    await listLocal(deps, demo.tenantId, new URL(localUrl).origin)
    return {
      url: `${publicUrl}/demo`,
      local_url: `${localUrl}/demo`,
      key: demo.key,
      commands: demoCommands(publicUrl, demo.key),
      setup_url: await openSetup(deps),
      async stop() {
        await service.stop()
        await receiver.stop()
      },
    }
  } catch (error) {
    // The receiver would keep the process alive.
    await receiver.stop()
    throw error
  }
}

/** The pane of the online shop asks from the page's own origin. */
async function listLocal(deps: Parameters<typeof addOrigin>[0] & Parameters<typeof mayAsk>[0], tenantId: string, origin: string) {
  const owner = { tenantId, environment: 'test' as const }
  if (!(await mayAsk(deps, owner, origin))) await addOrigin(deps, owner, origin, 'demo')
}

/** The settings of this machine, with data and keys in a directory of its own. */
function demoConfig({ port: wanted, dataDir, env: given }: DemoOptions, receiverPort: number): Config {
  const { PORT, VIDIMUS_LOG = 'warn', HOST = '127.0.0.1', ...env } = given
  const port = wanted ?? (PORT || freePort(HOST))
  const { VIDIMUS_MASTER_KEY_FILE: _, CREDENTIALS_DIRECTORY: __, ...rest } = env
  const own = { VIDIMUS_DATA_DIR: dataDir, VIDIMUS_KEY_DIR: dataDir }
  const config = loadConfig({ ...rest, ...own, HOST, VIDIMUS_LOG, PORT: String(port) })
  if (config.database) throw new CommandError('the demo has a file of its own; run it without VIDIMUS_DATABASE_URL')
  const lan = HOST === '0.0.0.0' && !env.VIDIMUS_PUBLIC_URL ? lanAddress() : undefined
  return {
    ...config,
    // The demo's phone is the sandbox wallet.
    hasSandbox: true,
    publicUrl: lan ? config.publicUrl.replace('localhost', lan) : config.publicUrl,
    egressAllow: [...config.egressAllow, ...parseAllowList(`127.0.0.1:${receiverPort}`)],
  }
}

function freePort(hostname: string): number {
  const listen = (port: number) => Bun.listen({ hostname, port, socket: { data() {} } })
  let listener: ReturnType<typeof listen>
  try {
    listener = listen(PORT_DEFAULT)
  } catch {
    listener = listen(0)
  }
  listener.stop(true)
  return listener.port
}

const lanAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flat()
    .find(each => each?.family === 'IPv4' && !each.internal)?.address

function welcome({ url, local_url, commands, setup_url }: Shown): string {
  return [
    '',
    // A phone cannot reach this machine as localhost.
    ...(isLocalHost(new URL(url).hostname) ? [] : [encodeQR(url, 'ascii', { ecc: 'low', border: 2 }).trimEnd(), '']),
    `  The demo is at ${local_url}`,
    ...(url === local_url ? [] : [`  and for others at ${url}`]),
    '  Its data is deleted when you stop it with Ctrl-C.',
    '',
    '  The same with curl, one after the other (the key is a throw-away too):',
    '',
    ...commands,
    '',
    ...(setup_url ? ['  The dashboard, with the same data:', `  ${setup_url}`, ''] : []),
  ].join('\n')
}

const OPENERS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
  linux: ['xdg-open'],
}

/** A convenience: where there is no browser, the address is on the screen. */
function openBrowser(url: string): void {
  try {
    Bun.spawn([...(OPENERS[process.platform] ?? ['xdg-open']), url], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    }).unref()
  } catch {
    // No such program.
  }
}
