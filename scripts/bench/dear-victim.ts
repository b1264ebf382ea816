// Another tenant's client, in a thread of its own: one small request after the other, and how long each takes.
import { requestBytes } from './load.ts'

export type Watch = {
  port: number
  requests: { method: string; path: string; headers?: Record<string, string>; body?: string }[]
}
export type VictimReport = { ms: number[]; others: number[] }

declare const self: Worker

const PAUSE_MS = 2
let ms: number[] = []
let others: number[] = []

self.onmessage = ({ data }: MessageEvent<Watch | 'tell'>) => {
  if (data !== 'tell') return void watch(data)
  postMessage({ ms, others } satisfies VictimReport)
  ms = []
  others = []
}

async function watch({ port, requests }: Watch): Promise<void> {
  const all = requests.map(requestBytes)
  for (let i = 0; ; i++) {
    const begun = performance.now()
    const status = await send(port, all[i % all.length]!)
    ms.push(performance.now() - begun)
    if (status !== 200 && status !== 201) others.push(status)
    await Bun.sleep(PAUSE_MS)
  }
}

let open: { socket: Bun.Socket; heard: (text: string) => void } | undefined

/** On one connection: its status, once the answer is whole. */
async function send(port: number, bytes: Uint8Array): Promise<number> {
  const done = Promise.withResolvers<number>()
  let text = ''
  const heard = (chunk: string) => {
    text += chunk
    const head = text.indexOf('\r\n\r\n')
    const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
    if (head >= 0 && text.length >= head + 4 + Number(length ?? 0)) done.resolve(Number(text.slice(9, 12)))
  }
  open ??= {
    heard,
    socket: await Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        data: (_, chunk) => open?.heard(chunk.toString('latin1')),
        close: () => {
          open = undefined
          done.resolve(0)
        },
      },
    }),
  }
  open.heard = heard
  open.socket.write(bytes)
  return await done.promise
}
