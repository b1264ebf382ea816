import type { TrustList } from '../../trust-lists/list.ts'
import { readInThread } from '../../trust-lists/read-in-thread.ts'
import { signerOf } from '../../trust-lists/signer.ts'
import {
  type BundledAnchor,
  type BundledBlock,
  type BundledRevocation,
  type BundledSource,
  type OpenedBundle,
  openBundle,
} from './form.ts'

export type InspectedBundle = Pick<OpenedBundle, 'signer' | 'isSigned'> & {
  madeAt: string
  madeBy: string
  /** `list` is missing where `problem` says why it cannot be read. */
  sources: (Omit<BundledSource, 'list'> & { list?: TrustList; listSigner?: string; problem?: string })[]
  anchors: readonly BundledAnchor[]
  blocks: readonly BundledBlock[]
  revocation: readonly Omit<BundledRevocation, 'bytes'>[]
}

/** Stores nothing, and asks nobody. */
export async function inspectBundle(bytes: Uint8Array): Promise<InspectedBundle> {
  const { content, signer, isSigned } = openBundle(bytes)
  const sources = await Array.fromAsync(content.sources, async ({ list: encoded, ...source }) => {
    const read = await readInThread(source.kind, Buffer.from(encoded, 'base64'))
    return read.ok
      ? { ...source, list: read.list, listSigner: signerOf(read.list).fingerprint }
      : { ...source, problem: read.detail }
  })
  return {
    signer,
    isSigned,
    madeAt: content.made_at,
    madeBy: content.made_by,
    sources,
    anchors: content.anchors,
    blocks: content.blocks,
    revocation: (content.revocation ?? []).map(({ bytes: _, ...list }) => list),
  }
}
