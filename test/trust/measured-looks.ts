// Looks at lists in a process of its own, so that their memory can be measured: prints each outcome and by how many MB the
// process grew beyond a plain list.
import { readFileSync } from 'node:fs'
import { createExtraCa } from '../../src/egress/authorities.ts'
import { fetchSource } from '../../src/trust/lists/fetch-source.ts'
import type { ListKind } from '../../src/trust-lists/list.ts'
import { readInThread } from '../../src/trust-lists/read-in-thread.ts'

type Order = {
  allow: { address: string; prefix: number; port: number }
  caFile: string
  plain: string
  looks: { name: string; kind: ListKind; url: string }[]
}

const { allow, caFile, plain, looks } = JSON.parse(process.argv[2] ?? '') as Order
const egress = {
  allow: [allow],
  listener: { addresses: [], port: 1 },
  extraCa: createExtraCa(readFileSync(caFile, 'utf8')),
}

async function look(kind: ListKind, url: string): Promise<string> {
  const fetched = await fetchSource({ egress, resolve: async () => ['127.0.0.1'], now: Date.now }, url, null)
  if (!fetched.ok) return fetched.code
  const read = await readInThread(kind, 'bytes' in fetched ? fetched.bytes : new Uint8Array())
  return read.ok ? 'ok' : read.code
}

// The first looks load code, which is no cost of a hostile list.
let said = ''
for (let i = 0; i < 3; i++) said = await look('lote', plain)
const before = process.resourceUsage().maxRSS
const outcomes: Record<string, string> = {}
for (const { name, kind, url } of looks) outcomes[name] = await look(kind, url)
const grownMb = (process.resourceUsage().maxRSS - before) / 1024
process.stdout.write(JSON.stringify({ plain: said, outcomes, grownMb }))
process.exit(0)
