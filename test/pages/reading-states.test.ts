import { expect, test } from 'bun:test'
import { after, codeOf, OFF, type Reading } from '../../src/web/till/reading/reading.ts'

const CODE = 'mdoc:owBjMS4wAYIB2BhYS6QBAiABIVggWojRgrzl9C7'
const TARGET = { service: 'f0e1d2c3-0000-4000-8000-000000000000', message: Uint8Array.of(1) }

test('P52: a code may come with blanks, line ends, slashes, capitals and padding', () => {
  for (const text of [CODE, ` ${CODE}\r\n`, CODE.replace('mdoc:', 'MDOC:'), CODE.replace('mdoc:', 'mdoc://'), `${CODE}==`])
    expect(codeOf(text)).toEqual({ engagement: text.trim() })
})

test('P52: what a scanner with another keyboard types is told from another code', () => {
  for (const text of [CODE.replace(':', 'Ö'), `${CODE}ß`, `${CODE}?`, 'mdoc', `mdoc:${'ab cd'}`])
    expect(codeOf(text)).toEqual({ problem: 'scanner_layout' })
  for (const text of ['', 'openid4vp://?client_id=x', 'https://wine.example', `x${CODE}`])
    expect(codeOf(text)).toEqual({ problem: 'other_code' })
})

test('a wrong code starts another scan, and a right one the request', () => {
  const scanning = after(OFF, { type: 'began' })
  expect(scanning).toEqual({ step: 'scanning' })
  const wrong = after(scanning, { type: 'scanned', code: { problem: 'other_code' } })
  expect(wrong).toEqual({ step: 'scanning', problem: 'other_code' })
  expect(after(wrong, { type: 'scanned', code: { engagement: CODE } })).toEqual({ step: 'preparing' })
})

test('a phone that was not chosen can be tried again, and one that failed needs a new code', () => {
  const pairing = after({ step: 'preparing' }, { type: 'prepared', target: TARGET })
  expect(after(pairing, { type: 'failed', why: 'not_chosen', target: TARGET })).toEqual({
    step: 'pairing',
    target: TARGET,
    obstacle: 'not_chosen',
  })
  expect(after({ step: 'waiting' }, { type: 'failed', why: 'lost', target: TARGET })).toEqual({
    step: 'scanning',
    problem: 'lost',
  })
})

test('Bluetooth that is switched on lets a waiting reading go on, and disturbs no other', () => {
  const off: Reading = { step: 'pairing', target: TARGET, obstacle: 'no_bluetooth' }
  expect(after(off, { type: 'switched_on' })).toEqual({ step: 'pairing', target: TARGET })
  expect(after({ step: 'waiting' }, { type: 'switched_on' })).toEqual({ step: 'waiting' })
})
