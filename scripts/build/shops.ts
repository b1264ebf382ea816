#!/usr/bin/env bun
// Makes dist/shops: the plug-in for WooCommerce as a zip, and the server for Shopify as a folder that runs with Node.js
// alone, the client inside.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { moOf, readPo } from './translations.ts'
import { zipOf } from './zip.ts'

const ROOT = join(import.meta.dir, '../..')
const SDK = join(ROOT, 'src/sdk')
export const PLUGIN = 'vidimus-for-woocommerce'
/** WordPress has a locale for each; the texts are the same. */
const GERMAN = ['de_DE', 'de_DE_formal', 'de_AT', 'de_CH', 'de_CH_informal']

/** In a directory that is made anew. */
export async function buildShops(out: string): Promise<void> {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  writeFileSync(join(out, `${PLUGIN}.zip`), zipOf(pluginFiles()))
  await buildShopify(join(out, 'shopify'))
}

/** The plug-in by path, all in the one folder that WordPress wants. */
function pluginFiles(): Map<string, Uint8Array> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const home = join(SDK, 'woocommerce')
  const sources = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(home.length + 1))
  const files = new Map<string, Uint8Array>()
  for (const path of sources.toSorted()) {
    const text = readFileSync(join(home, path), 'utf8')
    if (path.endsWith('.po'))
      for (const locale of GERMAN) files.set(`${PLUGIN}/languages/${PLUGIN}-${locale}.mo`, moOf(readPo(text)))
    else files.set(`${PLUGIN}/${path}`, Buffer.from(text.replaceAll('0.0.0', version)))
  }
  const client = join(SDK, 'php/src')
  for (const name of readdirSync(client).toSorted()) files.set(`${PLUGIN}/client/${name}`, readFileSync(join(client, name)))
  return files.set(`${PLUGIN}/LICENSE`, readFileSync(join(ROOT, 'LICENSE')))
}

export async function buildShopify(out: string): Promise<void> {
  const home = join(SDK, 'shopify')
  const { success, logs, outputs } = await Bun.build({
    entrypoints: [join(home, 'server.mjs')],
    target: 'node',
    format: 'esm',
  })
  if (!success) throw new AggregateError(logs, 'shopify was not built')
  mkdirSync(out, { recursive: true })
  writeFileSync(join(out, 'server.mjs'), await outputs[0]!.text())
  for (const file of readdirSync(home).filter(file => file !== 'server.mjs')) cpSync(join(home, file), join(out, file))
}

if (import.meta.main) {
  const out = resolve('dist/shops')
  await buildShops(out)
  console.log(`${out}\n\n${readdirSync(out).toSorted().join('\n')}`)
}
