import { describe, expect, test } from 'bun:test'
import { hkdfSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Random } from '../src/base/ids.ts'
import {
  beginEpoch,
  createSealer,
  dropOldEpochs,
  type Keyring,
  keyringOf,
  layersOf,
  type Place,
  PURPOSES,
  type Purpose,
  SALT_BYTES,
} from '../src/base/seal.ts'
import { anyText } from './helpers/texts.ts'

const random: Random = count => randomBytes(count)
const ROOT_KEY = randomBytes(32)
const sealer = createSealer(ROOT_KEY, random)

const PLACE: Place = {
  tenant: 'ten_1',
  table: 'verification_results',
  column: 'sealed',
  row: 'vs_1',
  salt: Buffer.alloc(SALT_BYTES, 7),
}

const TEXT = '{"given_name":"Erika","age_over_18":true}'

describe('sealed text', () => {
  test('sealed text opens unchanged in its own place', () => {
    fc.assert(
      fc.property(anyText(), fc.uint8Array({ minLength: SALT_BYTES, maxLength: SALT_BYTES }), (text, salt) => {
        const place = { ...PLACE, salt }
        expect(sealer.open(place, sealer.seal(place, text))).toBe(text)
      }),
    )
    expect(sealer.open(PLACE, sealer.seal(PLACE, ''))).toBe('')
  })

  test('sealed text opens for another sealer with the same root key', () => {
    expect(createSealer(ROOT_KEY, random).open(PLACE, sealer.seal(PLACE, TEXT))).toBe(TEXT)
  })

  test('sealed text does not open under another root key', () => {
    const almost = Buffer.from(ROOT_KEY)
    almost[31]! ^= 1
    expect(() => createSealer(almost, random).open(PLACE, sealer.seal(PLACE, TEXT))).toThrow()
  })

  test('sealed text does not open for another tenant, table, column, row or salt', () => {
    const sealed = sealer.seal(PLACE, TEXT)
    const otherSalt = Buffer.from(PLACE.salt)
    otherSalt[0]! ^= 1
    for (const change of [
      { tenant: 'ten_2' },
      { tenant: '' },
      { table: 'verification_sessions' },
      { column: 'sealed_response_key' },
      { row: 'vs_2' },
      { row: '' },
      { salt: otherSalt },
      { salt: PLACE.salt.subarray(1) },
      { salt: Buffer.alloc(0) },
    ]) {
      expect(() => sealer.open({ ...PLACE, ...change }, sealed)).toThrow()
    }
    expect(sealer.open(PLACE, sealed)).toBe(TEXT)
  })

  test('does not open when any bit of any byte is flipped', () => {
    const sealed = sealer.seal(PLACE, TEXT)
    for (let i = 0; i < sealed.length; i++) {
      for (let bit = 0; bit < 8; bit++) {
        const flipped = Buffer.from(sealed)
        flipped[i]! ^= 1 << bit
        expect(() => sealer.open(PLACE, flipped)).toThrow()
      }
    }
  })

  test('sealed text does not open when it is shortened or lengthened', () => {
    const sealed = sealer.seal(PLACE, TEXT)
    for (let length = 0; length < sealed.length; length++) {
      expect(() => sealer.open(PLACE, sealed.subarray(0, length))).toThrow()
      expect(() => sealer.open(PLACE, sealed.subarray(sealed.length - length))).toThrow()
    }
    expect(() => sealer.open(PLACE, Buffer.concat([sealed, Buffer.of(0)]))).toThrow()
  })

  test('sealed text does not contain the plain text', () => {
    expect(sealer.seal(PLACE, TEXT).toString('latin1')).not.toContain('Erika')
  })

  test('the same text sealed twice differs in nonce, text and tag', () => {
    const one = sealer.seal(PLACE, TEXT)
    const other = sealer.seal(PLACE, TEXT)
    for (const [from, to] of [
      [1, 13],
      [13, -16],
      [-16, undefined],
    ] as const) {
      expect(one.subarray(from, to)).not.toEqual(other.subarray(from, to))
    }
  })
})

describe('a session key', () => {
  const ofSession = { ...PLACE, sessionKey: randomBytes(32) }

  test('text sealed with a session key opens only with it', () => {
    const sealed = sealer.seal(ofSession, TEXT)
    expect(sealer.open(ofSession, sealed)).toBe(TEXT)
    expect(() => sealer.open(PLACE, sealed)).toThrow()
    expect(() => sealer.open({ ...PLACE, sessionKey: randomBytes(32) }, sealed)).toThrow()
  })
})

describe('a new epoch of row keys', () => {
  const first = keyringOf(ROOT_KEY)
  const second = beginEpoch(first, random)
  const onlySecond = dropOldEpochs(second)
  const sealerOf = (keyring: Keyring) => createSealer(keyring, random)

  test('new text is sealed under the new key at once, and old text still opens', () => {
    const sealed = sealerOf(second).seal(PLACE, TEXT)
    expect(() => sealer.open(PLACE, sealed)).toThrow()
    expect(sealerOf(second).open(PLACE, sealer.seal(PLACE, TEXT))).toBe(TEXT)
  })

  test('without the old keys only text that was sealed again opens', () => {
    const before = sealer.seal(PLACE, TEXT)
    const again = sealerOf(second).sealAgain(PLACE, before)!
    expect(sealerOf(onlySecond).open(PLACE, again)).toBe(TEXT)
    expect(() => sealerOf(onlySecond).open(PLACE, before)).toThrow()
    expect(() => sealer.open(PLACE, again)).toThrow()
    expect(sealerOf(second).sealAgain(PLACE, again)).toBeUndefined()
  })

  test('the key of each purpose is turned, layered or rewritten, as the list says, and again with the next data key', () => {
    const fates = (before: Keyring, begun: Keyring) =>
      (Object.keys(PURPOSES) as Purpose[]).map(purpose => {
        const keyrings = [before, begun, dropOldEpochs(begun)]
        const [old, both, now] = keyrings.map(keyring => sealerOf(keyring).key(purpose)) as [Buffer, Buffer, Buffer]
        if (!both.subarray(0, old.length).equals(old)) return [purpose, now.equals(both) ? 'turned' : 'lost']
        if (both.length !== old.length + 32) return [purpose, 'kept']
        if (now.equals(both)) return [purpose, 'layered']
        return [purpose, now.equals(both.subarray(-32)) ? 'rewritten' : 'lost']
      })
    expect(Object.fromEntries(fates(first, second))).toEqual(PURPOSES)
    expect(Object.fromEntries(fates(onlySecond, beginEpoch(onlySecond, random)))).toEqual(PURPOSES)
  })

  test('no key is derived past the list: every purpose of it is used, and nothing else calls for HKDF', async () => {
    const src = join(import.meta.dir, '../src')
    const used = new Set<string>()
    const deriving: string[] = []
    for await (const file of new Bun.Glob('**/*.ts').scan(src)) {
      // The SDK runs elsewhere, and the sandbox wallet is a foreign implementation.
      if (/^(sdk|sandbox|web)\//.test(file)) continue
      const text = await Bun.file(join(src, file)).text()
      for (const [, purpose = ''] of text.matchAll(/\.key\('([a-z ]+)'\)/g)) used.add(purpose)
      if (/\bhkdf(Sync)?\(/.test(text)) deriving.push(file)
    }
    expect([...used].toSorted()).toEqual(Object.keys(PURPOSES).toSorted())
    // Row keys and purposes; the keys of wrapping keys, which turn by themselves; a key of the caller's own secret; sessions with a phone.
    expect(deriving.toSorted()).toEqual([
      'base/seal.ts',
      'devices/replay.ts',
      'proximity/engagement.ts',
      'proximity/session.ts',
      'session-keys/keys.ts',
    ])
  })

  test('a layered key begins with the earlier ones, and the old row key cannot be derived again', () => {
    const third = beginEpoch(onlySecond, random)
    const [one, two, three] = [first, onlySecond, third].map(keyring => layersOf(sealerOf(keyring).key('audit subject')))
    expect([two!.slice(0, 1), three!.slice(0, 2)]).toEqual([one!, two!])
    expect(new Set(three!.map(key => key.toString('hex'))).size).toBe(3)
    const held = [onlySecond.base, ...onlySecond.rows.values(), ...onlySecond.kept.values()]
    const rows = first.rows.get(0)!
    for (const key of held) {
      expect(key).not.toEqual(ROOT_KEY)
      expect(key).not.toEqual(rows)
      expect(Buffer.from(hkdfSync('sha256', key, 'vidimus', 'rows', 32))).not.toEqual(rows)
    }
  })
})

describe('keys for a purpose', () => {
  test('keys for a purpose are 32 bytes, stable, and differ by purpose and root key', () => {
    const key = sealer.key('idempotency key')
    expect(key).toHaveLength(32)
    expect(createSealer(ROOT_KEY, random).key('idempotency key')).toEqual(key)
    expect(sealer.key('audit subject')).not.toEqual(key)
    expect(createSealer(randomBytes(32), random).key('idempotency key')).not.toEqual(key)
  })

  test('keys for a purpose are not the root key itself', () => {
    expect(sealer.key('network')).not.toEqual(ROOT_KEY)
  })
})
