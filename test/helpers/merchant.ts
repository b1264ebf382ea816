// A merchant's program of a recipe, in Node, with the package as it is published.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSdk } from '../../scripts/build/sdk.ts'
import { temporaryDir, until } from './app.ts'

export type Merchant = { url: string; stop: () => Promise<void>; said: () => string }

/** As the recipes say it. */
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
  const settings = { HOST: '127.0.0.1', PORT: String(port), ...env }
  writeFileSync(
    join(dir, '.env'),
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  const child = Bun.spawn(START.split(' '), {
    cwd: dir,
    env: { PATH: process.env.PATH },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  let text = ''
  void (async () => {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) text += chunk
  })()
  const merchant: Merchant = {
    url: `http://127.0.0.1:${port}`,
    said: () => text,
    stop: async () => {
      running.delete(merchant)
      child.kill()
      await child.exited
    },
  }
  running.add(merchant)
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`the recipe stopped: ${text}`)
    return await fetch(merchant.url).then(
      () => true,
      () => false,
    )
  })
  return merchant
}
