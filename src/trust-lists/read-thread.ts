// Reads a list in a thread: a list made to be slow must not hold up the service.
import type { ListKind, ReadList } from './list.ts'
import { readList } from './read-list.ts'

declare const self: Worker

export type Order = { kind: ListKind; bytes: Uint8Array }

self.onmessage = ({ data: { kind, bytes } }: MessageEvent<Order>) => {
  self.postMessage(readList(kind, bytes) satisfies ReadList)
}
