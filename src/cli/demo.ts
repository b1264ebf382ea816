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
import { openSetup } from '../people/setup.ts'
import { start } from '../service/start.ts'
import { parseCall, print, UsageError, wholeNumber } from './output.ts'
import { stopSignal } from './serve.ts'

/** Another one than serve's: pages of one origin share what the browser keeps, and the demo must not take a real till's pairing. */
const PORT_DEFAULT = 3030

const HELP = `usage: vidimus demo [--port N] [--no-open] [--json]

Shows everything on one page: a till, a phone and the back office. It runs on a directory of its own, which is gone afterwards, and needs no
internet. Prints the address, a QR code of it, and the commands that do the same. Stop it with Ctrl-C. Without --port it takes PORT, ${PORT_DEFAULT},
or one that is free. HOST=0.0.0.0 lets other devices of your network in.

example: vidimus demo --no-open`

export async function runDemo(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, { port: { type: 'string' }, 'no-open': { type: 'boolean' } })
  if (values.help) return print(HELP)
  if (words.length) throw new UsageError(`demo takes no "${words[0]}"`)
  const port = values.port === undefined ? undefined : wholeNumber(values.port, '--port', 65_535)
  const stopped = stopSignal()
  const dataDir = mkdtempSync(join(tmpdir(), 'vidimus-demo-'))
  const remove = () => rmSync(dataDir, { recursive: true, force: true })
  // However it ends.
  process.once('exit', remove)
  try {
    const { stop, ...shown } = await startDemo({ port, dataDir })
    if (values.json) print(JSON.stringify({ ...shown, data_dir: dataDir }))
    else print(welcome(shown))
    if (!values['no-open']) openBrowser(shown.local_url)
    await stopped
    await stop()
  } finally {
    remove()
  }
  return 0
}

type Wanted = { port: number | undefined; dataDir: string }

/** On this machine a page may do more than over plain http from another one: wallets need the browser's cryptography. */
type Shown = { url: string; local_url: string; key: string; commands: string[]; setup_url: string | null }

async function startDemo(wanted: Wanted): Promise<Shown & { stop: () => Promise<void> }> {
  const world = realWorld()
  const receiver = startReceiver(world.now)
  try {
    const deps = createDeps(demoConfig(wanted, receiver.port), world, 'server')
    const demo = await furnishDemo(deps, receiver)
    const service = await start(deps, { demo })
    const { publicUrl } = deps.config
    return {
      url: `${publicUrl}/demo`,
      local_url: `${service.url.replace(/(?<=\/\/)(0\.0\.0\.0|127\.0\.0\.1|\[::1?\])/, 'localhost')}/demo`,
      key: demo.key,
      commands: demoCommands(publicUrl, demo.key),
      setup_url: await openSetup(deps),
      async stop() {
        await service.stop()
        await receiver.stop()
      },
    }
  } catch (error) {
    // It would keep the process alive.
    await receiver.stop()
    throw error
  }
}

/** The settings of this machine but for what makes it a demo; nothing of it touches another data directory. */
function demoConfig({ port: wanted, dataDir }: Wanted, receiverPort: number): Config {
  const { PORT, VIDIMUS_LOG = 'warn', HOST = '127.0.0.1', ...env } = process.env
  const port = wanted ?? (PORT || freePort(HOST))
  const config = loadConfig({ ...env, HOST, VIDIMUS_LOG, PORT: String(port) })
  const lan = HOST === '0.0.0.0' && !env.VIDIMUS_PUBLIC_URL ? lanAddress() : undefined
  return {
    ...config,
    dataDir,
    // The phone of the demo is the sandbox wallet.
    hasSandbox: true,
    publicUrl: lan ? config.publicUrl.replace('localhost', lan) : config.publicUrl,
    egressAllow: [...config.egressAllow, ...parseAllowList(`127.0.0.1:${receiverPort}`)],
  }
}

/** The usual one, or any. */
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
    encodeQR(url, 'ascii', { ecc: 'low', border: 2 }).trimEnd(),
    '',
    `  The demo is at ${local_url}`,
    ...(url === local_url ? [] : [`  and for others at ${url}`]),
    '  Nothing of it stays: its data is removed when you stop it with Ctrl-C.',
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

/** A convenience: where it cannot be done, the address is on the screen. */
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
