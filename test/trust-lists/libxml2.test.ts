import { expect, test } from 'bun:test'
import { FRESH_SEED } from '../helpers/fresh-seed.ts'
import { seeded } from '../helpers/seeded.ts'
import { findDifference, randomXml, withChanges } from './random-xml.ts'

/** Ten times. */
const DOCUMENTS = 1000
const SEEDS = Array.from({ length: 10 }, (_, i) => FRESH_SEED + i)

test.each(SEEDS)(
  'libxml2 makes the same canonical forms of random documents, and of those still read with some bytes changed: seed %d',
  seed => {
    const random = seeded(seed)
    const differences: string[] = []
    let plain = 0
    for (let i = 0; i < DOCUMENTS && differences.length < 3; i++) {
      const { text, isPlain } = randomXml(random)
      const bytes = Buffer.from(text)
      const nth = random.below(100)
      const changed = withChanges(bytes, random)
      for (const each of [
        { bytes, nth, isPlain },
        { bytes: changed, nth, isPlain: isPlain && changed.equals(bytes) },
      ]) {
        const difference = findDifference(each)
        if (difference) differences.push(`${JSON.stringify(each.bytes.toString())}\n${difference}`)
      }
      if (isPlain) plain++
    }
    expect(differences).toEqual([])
    expect(plain).toBeGreaterThan(0)
  },
)
