import type { Slip } from './list.ts'

export default [
  ['wrong codes lock a known network out', 'admitGuess', 'if (!isKnown) await', 'await', 'devices/guessing'],
] satisfies Slip[]
