import { expect, test } from 'bun:test'
import { afterFailure, afterSwitch, codeOf, Fault, type Reading } from '../../src/web/till/reading/reading.ts'

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

test('a phone that was not chosen can be tried again, and one that failed needs a new code', () => {
  expect(afterFailure('not_chosen', TARGET)).toEqual({ step: 'pairing', target: TARGET, obstacle: 'not_chosen' })
  expect(afterFailure('lost', TARGET)).toEqual({ step: 'scanning', problem: 'lost' })
})

test('a fault is told to the service by its code, and to people by what it means for them', () => {
  const { code, message, why } = new Fault('timed_out')
  expect([code, message, why]).toEqual(['timed_out', 'timed_out', 'lost'])
  expect(new Fault('not_chosen', 'none_seen')).toMatchObject({ code: 'not_chosen', why: 'none_seen' })
})

test('Bluetooth that is switched on lets a waiting reading go on, and disturbs no other', () => {
  const off: Reading = { step: 'pairing', target: TARGET, obstacle: 'no_bluetooth' }
  expect(afterSwitch(off)).toEqual({ step: 'pairing', target: TARGET })
  expect(afterSwitch({ step: 'waiting' })).toEqual({ step: 'waiting' })
})
