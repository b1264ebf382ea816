// Messages in Bluetooth chunks, and the modem between a till and a phone.
import { describe, expect, test } from 'bun:test'
import { chunksOf, Reassembler } from '../../src/web/shared/ble-framing.ts'
import type { Notifying, Writable } from '../../src/web/shared/loopback.ts'
import { type Link, startModem } from '../../src/web/till/reading/modem.ts'

const messageOf = (length: number) => Uint8Array.from({ length }, (_, i) => i * 7)

/** The message that the chunks make, or what is wrong with the first wrong one. */
function join(chunks: Iterable<Uint8Array>) {
  const joined = new Reassembler()
  let taken: ReturnType<Reassembler['take']>
  for (const chunk of chunks) {
    taken = joined.take(chunk)
    if (typeof taken === 'string') break
  }
  return taken
}

describe('chunks', () => {
  test('P45: a message of any length survives chunks of any length', () => {
    for (const length of [0, 1, 18, 19, 20, 486, 3587])
      for (const payload of [1, 19, 243, 511]) {
        const chunks = chunksOf(messageOf(length), payload + 1)
        expect(Math.max(...chunks.map(chunk => chunk.length))).toBeLessThanOrEqual(payload + 1)
        expect(chunks.map(([flag]) => flag)).toEqual([...Array(chunks.length - 1).fill(1), 0])
        expect(join(chunks)).toEqual(messageOf(length))
      }
  })

  test('P45: an empty last chunk ends a message, and chunks may differ in length', () => {
    expect(join([Uint8Array.of(1, 5), Uint8Array.of(1, 6, 7, 8), Uint8Array.of(0)])).toEqual(Uint8Array.of(5, 6, 7, 8))
    expect(join([Uint8Array.of(0)])).toEqual(Uint8Array.of())
    expect(join([Uint8Array.of(1, 5)])).toBeUndefined()
  })

  test('P46: another first byte, an empty chunk, one that only says that more follows, and one after the last are faults', () => {
    for (const bad of [Uint8Array.of(2, 5), Uint8Array.of(255), Uint8Array.of(), Uint8Array.of(1)])
      expect(join([Uint8Array.of(1, 5), bad])).toBe('bad_chunk')
    expect(join([Uint8Array.of(0, 5), Uint8Array.of(0, 5)])).toBe('bad_chunk')
  })

  test('P46: a message has at most 750,000 bytes', () => {
    expect(join(chunksOf(messageOf(750_000), 512))).toHaveLength(750_000)
    expect(join(chunksOf(messageOf(750_001), 512))).toBe('too_large')
  })
})

/** A phone in this process, which notes what happens to it. */
function phoneOf(refuse: (to: Writable, value: Uint8Array) => boolean = () => false) {
  const lost = Promise.withResolvers<void>()
  const log: string[] = []
  const notify: Partial<Record<Notifying, (value: Uint8Array) => void>> = {}
  const link: Link = {
    subscribe: async (to, onValue) => {
      log.push(`subscribe ${to}`)
      notify[to] = onValue
    },
    write: async (to, value) => {
      log.push(`${to} ${value.toHex()}`)
      if (refuse(to, value)) throw new Error('refused')
    },
    close: () => void log.push('close'),
    lost: lost.promise,
  }
  return {
    link,
    log,
    leave: lost.resolve,
    notify: (from: Notifying, ...value: number[]) => notify[from]!(Uint8Array.from(value)),
  }
}

describe('the modem', () => {
  test('it subscribes to State first, then starts, sends in chunks and says the last word', async () => {
    const { link, log, notify } = phoneOf()
    const modem = await startModem(link, 3)
    await modem.send(Uint8Array.of(0xa, 0xb, 0xc))
    notify('server2client', 1, 7)
    notify('server2client', 0, 8)
    expect(await modem.received).toEqual(Uint8Array.of(7, 8))
    await modem.end(Uint8Array.of(0xd))
    await modem.end(Uint8Array.of(0xd))
    expect(log).toEqual([
      'subscribe state',
      'subscribe server2client',
      'state 01',
      'client2server 010a0b',
      'client2server 000c',
      'client2server 000d',
      'state 02',
      'close',
    ])
  })

  test('P47: a phone that leaves before its message is whole is lost, by State 02 or without a word', async () => {
    for (const leave of ['state', 'radio']) {
      for (const before of [[], [1, 7]]) {
        const phone = phoneOf()
        const { received } = await startModem(phone.link, 244)
        if (before.length > 0) phone.notify('server2client', ...before)
        if (leave === 'radio') phone.leave()
        else phone.notify('state', 2)
        await expect(received).rejects.toThrow('lost')
      }
    }
  })

  test('P47: a phone that leaves after its message has answered, and other values of State mean nothing', async () => {
    const { link, notify, leave } = phoneOf()
    const { received } = await startModem(link, 244)
    notify('state', 1)
    notify('state')
    notify('server2client', 0, 9)
    notify('state', 2)
    leave()
    expect(await received).toEqual(Uint8Array.of(9))
  })

  test('P46: a chunk that is wrong is a fault, and one after the last changes nothing', async () => {
    const wrong = phoneOf()
    const modem = await startModem(wrong.link, 244)
    wrong.notify('server2client', 2, 9)
    wrong.notify('server2client', 0, 9)
    await expect(modem.received).rejects.toThrow('bad_chunk')
    const late = phoneOf()
    const { received } = await startModem(late.link, 244)
    late.notify('server2client', 0, 9)
    late.notify('server2client', 0, 8)
    expect(await received).toEqual(Uint8Array.of(9))
  })

  test('P48: after a write that failed nothing is sent again', async () => {
    let writes = 0
    const { link, log } = phoneOf(to => to === 'client2server' && ++writes === 3)
    const modem = await startModem(link, 2)
    await expect(modem.send(messageOf(5))).rejects.toThrow('refused')
    await modem.end()
    expect(log.slice(3)).toEqual(['client2server 0100', 'client2server 0107', 'client2server 010e', 'state 02', 'close'])
  })
})
