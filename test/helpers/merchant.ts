// A merchant's program in Node: the server for Shopify as it is built, or the code of a recipe with the published package.
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { buildSdk } from '../../scripts/build/sdk.ts'
import { buildShopify } from '../../scripts/build/shops.ts'
import { temporaryDir, until } from './app.ts'

export type Merchant = { url: string; stop: () => Promise<void>; said: () => string; printed: () => string }

/** The start command of the recipes. */
export const START = 'node --env-file=.env server.mjs'

const running = new Set<Merchant>()

/** For the afterAll of every file that starts one. */
export async function stopMerchants(): Promise<void> {
  for (const { stop } of running) await stop()
}

export async function startMerchant(code: string, port: number, env: Record<string, string>): Promise<Merchant> {
  const dir = temporaryDir()
  await buildSdk(join(dir, 'node_modules/vidimus'))
  writeFileSync(join(dir, 'server.mjs'), code)
  return await start(dir, START, port, env)
}

/** The first line of the answer to a target as it is: fetch would mend it. Empty when the server ended. */
export async function askTarget({ url }: Pick<Merchant, 'url'>, target: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(`GET ${target} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString().split('\r\n')[0]!
}

/** The server for Shopify, started with the command of its `npm start`. */
export async function startShopify(port: number, env: Record<string, string>): Promise<Merchant> {
  const dir = temporaryDir()
  await buildShopify(dir)
  const { scripts } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as { scripts: { start: string } }
  const merchant = await start(dir, scripts.start, port, env)
  await until(async () => merchant.printed().includes(`listening on port ${port}`))
  return merchant
}

async function start(dir: string, command: string, port: number, env: Record<string, string>): Promise<Merchant> {
  const settings = { HOST: '127.0.0.1', PORT: String(port), ...env }
  writeFileSync(
    join(dir, '.env'),
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  const child = Bun.spawn(command.split(' '), {
    cwd: dir,
    env: { PATH: process.env.PATH },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let text = ''
  let lines = ''
  void (async () => {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) text += chunk
  })()
  void (async () => {
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) lines += chunk
  })()
  const merchant: Merchant = {
    url: `http://127.0.0.1:${port}`,
    said: () => text,
    printed: () => lines,
    stop: async () => {
      running.delete(merchant)
      child.kill()
      await child.exited
    },
  }
  running.add(merchant)
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`the program stopped: ${text}`)
    return await fetch(merchant.url).then(
      () => true,
      () => false,
    )
  })
  return merchant
}
