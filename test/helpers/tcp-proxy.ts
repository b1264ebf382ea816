// A TCP proxy on a port of its own. A test may drop what passes through it.
import type { Socket } from 'bun'

type Target = { hostname: string; port: number }
type Client = Socket<Piped>
type Piped = { other?: Socket<Piped>; early: Uint8Array[] }

type Rules = {
  /** False drops the chunk. */
  passesRequest?(client: Client, chunk: Uint8Array): boolean
  passesAnswer?(client: Client): boolean
  /** False keeps the connection to the target open after the client has left. */
  passesClose?(): boolean
}

/** `targetsOf` is asked for each connection; a target that refuses it is followed by the next one. */
export function startTcpProxy(targetsOf: () => readonly Target[], rules: Rules = {}): { port: number; stop(): void } {
  const { passesRequest = () => true, passesAnswer = () => true, passesClose = () => true } = rules
  const send = (client: Client, chunk: Uint8Array) => {
    if (passesRequest(client, chunk)) client.data.other?.write(chunk)
  }
  const connectTo = (target: Target, client: Client) =>
    Bun.connect<Piped>({
      ...target,
      data: { other: client, early: [] },
      socket: {
        data: (_, chunk) => void (passesAnswer(client) && client.write(chunk)),
        close: () => void client.terminate(),
        error() {},
      },
    }).catch(() => undefined)
  const server = Bun.listen<Piped>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      async open(client) {
        client.data = { early: [] }
        for (const target of targetsOf()) {
          client.data.other = await connectTo(target, client)
          if (client.data.other) break
        }
        if (!client.data.other) return void client.terminate()
        for (const chunk of client.data.early.splice(0)) send(client, chunk)
      },
      data(client, chunk) {
        if (client.data.other) send(client, chunk)
        else client.data.early.push(Uint8Array.from(chunk))
      },
      close: client => void (passesClose() && client.data.other?.terminate()),
      error() {},
    },
  })
  return { port: server.port, stop: () => server.stop(true) }
}
