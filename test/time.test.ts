import { describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import fc from 'fast-check'
import { isoUtc, parseUtcInstant, secondsToUtcMidnight, steadyClock, utcDay } from '../src/base/time.ts'

const DAY_MS = 86_400_000

describe('parseUtcInstant', () => {
  test('parseUtcInstant reads 0 to 9 fraction digits', () => {
    const second = Date.UTC(2026, 2, 4, 12, 30, 15)
    for (const [fraction, ms] of [
      ['', 0],
      ['.1', 100],
      ['.12', 120],
      ['.123', 123],
      ['.1230', 123],
      ['.123000000', 123],
      ['.000000000', 0],
    ] as const) {
      expect(parseUtcInstant(`2026-03-04T12:30:15${fraction}Z`)).toBe(second + ms)
    }
  })

  test('a finer fraction rounds up to the next millisecond, even into the next second, day and year', () => {
    for (const [text, same] of [
      ['2026-03-04T12:30:15.123000001Z', '2026-03-04T12:30:15.124Z'],
      ['2026-03-04T12:30:15.1239Z', '2026-03-04T12:30:15.124Z'],
      ['2026-03-04T12:30:15.000000001Z', '2026-03-04T12:30:15.001Z'],
      ['2026-03-04T12:30:15.9990001Z', '2026-03-04T12:30:16.000Z'],
      ['2026-03-04T23:59:59.999999999Z', '2026-03-05T00:00:00.000Z'],
      ['2026-12-31T23:59:59.9991Z', '2027-01-01T00:00:00.000Z'],
    ] as const) {
      expect(parseUtcInstant(text)).toBe(Date.parse(same))
    }
  })

  test('parseUtcInstant accepts leap days in leap years only', () => {
    for (const [day, exists] of [
      ['2024-02-29', true],
      ['2000-02-29', true],
      ['2028-02-29', true],
      ['2026-02-29', false],
      ['2100-02-29', false],
      ['1900-02-29', false],
      ['2024-02-30', false],
      ['2026-02-30', false],
      ['2026-04-31', false],
      ['2026-01-32', false],
      ['2026-01-00', false],
      ['2026-00-01', false],
      ['2026-13-01', false],
    ] as const) {
      expect([day, parseUtcInstant(`${day}T00:00:00Z`)]).toEqual([day, exists ? Date.parse(`${day}T00:00:00Z`) : undefined])
    }
  })

  test('parseUtcInstant refuses hours, minutes and seconds out of range', () => {
    for (const time of ['24:00:00', '23:60:00', '23:59:60', '25:00:00', '99:99:99']) {
      expect(parseUtcInstant(`2026-03-04T${time}Z`)).toBeUndefined()
    }
    expect(parseUtcInstant('2026-03-04T23:59:59Z')).toBe(Date.UTC(2026, 2, 4, 23, 59, 59))
  })

  test('parseUtcInstant reads only UTC written with Z', () => {
    for (const text of [
      '',
      '2026-03-04',
      '2026-03-04T12:30:15',
      '2026-03-04T12:30:15+00:00',
      '2026-03-04T12:30:15-01:00',
      '2026-03-04t12:30:15z',
      '2026-03-04 12:30:15Z',
      '2026-03-04T12:30Z',
      '2026-03-04T12:30:15.Z',
      '2026-03-04T12:30:15,5Z',
      '2026-03-04T12:30:15.1234567890Z',
      '2026-3-4T12:30:15Z',
      '+002026-03-04T12:30:15Z',
      ' 2026-03-04T12:30:15Z',
      '2026-03-04T12:30:15Z\n',
      '٢٠٢٦-03-04T12:30:15Z',
      'now',
    ]) {
      expect([text, parseUtcInstant(text)]).toEqual([text, undefined])
    }
  })

  test('every instant that isoUtc prints is read back as it was', () => {
    const upTo9999 = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) })
    fc.assert(fc.property(upTo9999, ms => parseUtcInstant(isoUtc(ms)) === ms))
  })

  test('a fraction of any length is rounded up, never by a whole millisecond or more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999 }), fc.integer({ min: 1, max: 9 }), (nanoseconds, digits) => {
        const fraction = String(nanoseconds).padStart(9, '0').slice(0, digits)
        const read = parseUtcInstant(`2026-03-04T00:00:00.${fraction}Z`)! - Date.UTC(2026, 2, 4)
        const meant = BigInt(fraction.padEnd(9, '0'))
        const readNs = BigInt(read) * 1_000_000n
        return readNs >= meant && readNs - meant < 1_000_000n
      }),
    )
  })
})

describe('secondsToUtcMidnight', () => {
  const midnight = Date.UTC(2024, 1, 29)

  test('secondsToUtcMidnight at midnight is a whole day', () => {
    expect(secondsToUtcMidnight(midnight)).toBe(86_400)
  })

  test('secondsToUtcMidnight rounds up, so that waiting so long passes midnight', () => {
    for (const [msBefore, seconds] of [
      [1, 1],
      [999, 1],
      [1000, 1],
      [1001, 2],
      [DAY_MS - 1, 86_400],
    ] as const) {
      expect([msBefore, secondsToUtcMidnight(midnight - msBefore)]).toEqual([msBefore, seconds])
    }
  })

  test('secondsToUtcMidnight reaches the next day, and a second less does not', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(2099, 0, 1) }), now => {
        const seconds = secondsToUtcMidnight(now)
        expect(seconds).toBeGreaterThan(0)
        expect(utcDay(now + seconds * 1000)).not.toBe(utcDay(now))
        expect(utcDay(now + seconds * 1000 - 1000)).toBe(utcDay(now))
      }),
    )
  })
})

test('utcDay changes at UTC midnight', () => {
  expect(utcDay(Date.UTC(2024, 1, 29) - 1)).toBe('2024-02-28')
  expect(utcDay(Date.UTC(2024, 1, 29))).toBe('2024-02-29')
  expect(utcDay(Date.UTC(2024, 2, 1))).toBe('2024-03-01')
})

describe('steadyClock', () => {
  const START = Date.UTC(2026, 2, 4, 12)

  /** A wall clock that can be set, and a monotonic clock that cannot. */
  function clocks() {
    let wall = START
    let monotonic = 1234.5
    return {
      now: steadyClock(
        () => wall,
        () => monotonic,
      ),
      pass(ms: number) {
        wall += ms
        monotonic += ms
      },
      step(ms: number) {
        wall += ms
      },
      wall: () => wall,
    }
  }

  test('steadyClock continues from the time shown before, at half speed until the wall clock has caught up', () => {
    let [wall, monotonic] = [START, 0]
    const pass = (ms: number) => {
      wall += ms
      monotonic += ms
    }
    const now = steadyClock(
      () => wall,
      () => monotonic,
      START + 60_000,
    )
    expect(now()).toBe(START + 60_000)
    pass(60_000)
    expect(now()).toBe(START + 90_000)
    pass(60_000)
    expect(now()).toBe(START + 120_000)
    pass(60_000)
    expect(now()).toBe(START + 180_000)
  })

  test('steadyClock equals the wall clock while that is not set', () => {
    const { now, pass, wall } = clocks()
    expect(now()).toBe(START)
    for (const ms of [0, 1, 999, 60_000, DAY_MS]) {
      pass(ms)
      expect(now()).toBe(wall())
    }
  })

  test('steadyClock follows a jump forward at once', () => {
    for (const jump of [3_600_000, DAY_MS]) {
      const { now, pass, step, wall } = clocks()
      step(jump)
      expect(now()).toBe(START + jump)
      pass(10)
      expect(now()).toBe(wall())
    }
  })

  test('after a step back steadyClock runs at half speed until the wall clock has caught up', () => {
    for (const back of [1000, 300_000, 3_600_000, DAY_MS]) {
      const { now, pass, step, wall } = clocks()
      step(-back)
      expect(now()).toBe(START)
      pass(back)
      expect(now()).toBe(START + back / 2)
      pass(back - 2)
      expect(now()).toBe(START + back - 1)
      expect(wall()).toBeLessThan(now())
      pass(2)
      expect(now()).toBe(wall())
      pass(1000)
      expect(now()).toBe(wall())
    }
  })

  test('a wall clock set back to 1970 does not move steadyClock back', () => {
    const { now, pass, step } = clocks()
    step(-START)
    expect(now()).toBe(START)
    pass(10_000)
    expect(now()).toBe(START + 5000)
  })

  test('no UTC day begins twice', () => {
    const { now, pass, step } = clocks()
    pass(DAY_MS / 2)
    expect(utcDay(now())).toBe('2026-03-05')
    step(-1000)
    expect(utcDay(now())).toBe('2026-03-05')
  })

  test('steadyClock loses no fractions of monotonic time between readings', () => {
    const { now, pass, step } = clocks()
    step(-DAY_MS)
    for (let i = 0; i < 1000; i++) {
      pass(0.5)
      now()
    }
    expect(now()).toBe(START + 250)
  })

  test('whatever happens to the wall clock, time never decreases, never trails it, and is a whole number', () => {
    const act = fc.oneof(
      fc.record({ pass: fc.double({ min: 0, max: 100_000, noNaN: true }) }),
      fc.record({ step: fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }) }),
    )
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), acts => {
        const { now, pass, step, wall } = clocks()
        let last = now()
        for (const each of acts) {
          if ('pass' in each) pass(each.pass)
          else step(each.step)
          const read = now()
          expect(Number.isInteger(read)).toBe(true)
          expect(read).toBeGreaterThanOrEqual(last)
          expect(read).toBeGreaterThanOrEqual(Math.floor(wall()))
          last = read
        }
      }),
    )
  })

  test('steadyClock equals the wall clock again after twice the time it is ahead', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: DAY_MS }), fc.integer({ min: 1, max: 20 }), (back, readings) => {
        const { now, pass, step, wall } = clocks()
        step(-back)
        for (let i = 0; i < readings; i++) {
          now()
          pass((2 * back) / readings)
        }
        expect(Math.abs(now() - wall())).toBeLessThanOrEqual(1)
      }),
    )
  })
})

test('within() leaves no timer: the process ends with its work', async () => {
  const script = `import { within } from ${JSON.stringify(resolve(import.meta.dir, '../src/base/time.ts'))}; await within(3_600_000, Promise.resolve(), () => {})`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'inherit' })
  try {
    expect(await child.exited).toBe(0)
  } finally {
    child.kill('SIGKILL')
  }
})
