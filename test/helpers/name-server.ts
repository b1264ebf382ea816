// A name server on loopback that answers as a test says: by the rules of RFC 1035, against them, or not at all.
import { createSocket, type Socket } from 'node:dgram'
import { createServer, type Server } from 'node:net'

export type Question = { name: string; type: 'A' | 'AAAA' | 'other'; raw: Buffer }
type DnsRecord = { name?: string; a: string } | { name?: string; aaaa: string } | { name?: string; cname: string }
/** `truncated` sends the asker to TCP, where the whole is given. */
export type DnsAnswer = { records?: DnsRecord[]; rcode?: number; truncated?: boolean } | Buffer | undefined

export const SERVFAIL = 2
export const NXDOMAIN = 3

export async function startNameServer(answer: (question: Question) => DnsAnswer | Promise<DnsAnswer>) {
  const questions: Question[] = []
  const respond = async (message: Buffer, isTcp: boolean): Promise<Buffer | undefined> => {
    const question = readQuestion(message)
    questions.push(question)
    const given = await answer(question)
    if (given === undefined || given instanceof Uint8Array) return given
    return encode(question, isTcp ? { ...given, truncated: false } : given.truncated ? { truncated: true } : given)
  }

  const tcp = createServer(socket => {
    let received = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('data', async chunk => {
      received = Buffer.concat([received, Buffer.from(chunk)])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0)
        const message = received.subarray(2, end)
        received = received.subarray(end)
        const reply = await respond(message, true)
        if (reply) socket.write(Buffer.concat([u16(reply.length), reply]))
      }
    })
  })
  const { udp, port } = await bindBoth(tcp)
  udp.on('message', async (message, from) => {
    const reply = await respond(message, false)
    if (reply) udp.send(reply, from.port, from.address)
  })

  return {
    questions,
    servers: [`127.0.0.1:${port}`],
    stop() {
      udp.close()
      tcp.close()
    },
  }
}

/** On one port for both, as a name server is; a port that is free for one may be taken for the other. */
async function bindBoth(tcp: Server): Promise<{ udp: Socket; port: number }> {
  for (;;) {
    await new Promise<void>(resolve => tcp.listen(0, '127.0.0.1', resolve))
    const { port } = tcp.address() as { port: number }
    const udp = createSocket('udp4')
    const isBound = await new Promise<boolean>(resolve => {
      udp.once('error', () => resolve(false))
      udp.bind(port, '127.0.0.1', () => resolve(true))
    })
    if (isBound) return { udp, port }
    udp.close()
    await new Promise(resolve => tcp.close(resolve))
  }
}

function readQuestion(message: Buffer): Question {
  const labels: string[] = []
  let at = 12
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const type = message.readUInt16BE(at + 1)
  // The part that EDNS adds behind the question is left out.
  const raw = Buffer.from(message.subarray(0, at + 5))
  return { name: labels.join('.').toLowerCase(), type: type === 1 ? 'A' : type === 28 ? 'AAAA' : 'other', raw }
}

function encode(
  { raw }: Question,
  { records = [], rcode = 0, truncated = false }: Exclude<DnsAnswer, Buffer | undefined>,
): Buffer {
  const flags = 0x8180 | rcode | (truncated ? 0x0200 : 0)
  const header = Buffer.concat([raw.subarray(0, 2), u16(flags), u16(1), u16(records.length), u16(0), u16(0)])
  return Buffer.concat([header, raw.subarray(12), ...records.map(encodeRecord)])
}

function encodeRecord(record: DnsRecord): Buffer {
  const owner = record.name === undefined ? u16(0xc00c) : encodeName(record.name)
  const [type, data] =
    'a' in record
      ? [1, Buffer.from(record.a.split('.').map(Number))]
      : 'aaaa' in record
        ? [28, ipv6Bytes(record.aaaa)]
        : [5, encodeName(record.cname)]
  return Buffer.concat([
    owner,
    u16(type as number),
    u16(1),
    Buffer.from([0, 0, 0, 60]),
    u16((data as Buffer).length),
    data as Buffer,
  ])
}

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map(label => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ])

/** Written in full, or with `::` once. */
function ipv6Bytes(text: string): Buffer {
  const [head = '', tail = ''] = text.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':').map(group => Number.parseInt(group, 16)))
  const [front, back] = [groups(head), groups(tail)]
  return Buffer.concat([...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back].map(u16))
}

function u16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff])
}
