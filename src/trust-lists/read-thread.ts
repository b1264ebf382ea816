// Reads a list in a thread: a list made to be slow must not hold up the service.
import { type IdentifierToken, readIdentifierList } from '../openid4vp/status/identifier-list.ts'
import { StatusFault } from '../openid4vp/status/token.ts'
import type { ListKind, ReadList } from './list.ts'
import { readList } from './read-list.ts'

declare const self: Worker

export type Order = { kind: ListKind | 'identifiers'; bytes: Uint8Array }
export type ReadIdentifiers = { ok: true; token: IdentifierToken } | { ok: false; detail: string }

self.onmessage = async ({ data: { kind, bytes } }: MessageEvent<Order>) => {
  self.postMessage(kind === 'identifiers' ? await readIdentifiers(bytes) : (readList(kind, bytes) satisfies ReadList))
}

async function readIdentifiers(bytes: Uint8Array): Promise<ReadIdentifiers> {
  try {
    const token = await readIdentifierList(bytes)
    // Copies: a view would be sent with the whole list behind it.
    return { ok: true, token: { ...token, chain: token.chain.map(der => new Uint8Array(der)) } }
  } catch (error) {
    if (error instanceof StatusFault) return { ok: false, detail: error.message }
    throw error
  }
}
