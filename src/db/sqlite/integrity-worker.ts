import { openReader } from './connections.ts'

declare const self: Worker

export type Soundness = 'sound' | 'damaged'

self.onmessage = ({ data: file }: MessageEvent<string>) => {
  self.postMessage(soundnessOf(file))
}

function soundnessOf(file: string): Soundness {
  const reader = openReader(file)
  try {
    const [first] = reader.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').all()
    return first?.quick_check === 'ok' ? 'sound' : 'damaged'
  } catch (error) {
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(String((error as { code?: unknown }).code))) return 'damaged'
    throw error
  } finally {
    reader.close()
  }
}
