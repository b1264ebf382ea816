import type fc from 'fast-check'
import type { Caller, Device, Model, Session } from './model.ts'
import type { Simulation } from './simulation.ts'

/** One thing that can happen. Its arguments are plain JSON: what made a run fail can be kept and run again. */
export type Command<Args> = {
  args: fc.Arbitrary<Args>
  /** How often it is tried, against the others. */
  weight: number
  can?: (model: Model, args: Args) => boolean
  run: (simulation: Simulation, args: Args) => Promise<void>
}

export const command = <Args>(made: Command<Args>): Command<Args> => made

/** A key by its place, a device's access token by its age, or nobody. */
export type CallerArgs = { by: 'key' | 'device' | 'nobody'; pick: number; age?: number }

export function callerOf(model: Model, { by, pick, age = 0 }: CallerArgs): Caller {
  if (by === 'nobody') return { kind: 'nobody' }
  if (by === 'key') return { kind: 'key', key: model.keys[pick % model.keys.length]! }
  const paired = model.devices.filter(({ accessTokens }) => accessTokens.length > 0)
  const device = paired[pick % paired.length]
  const token = device?.accessTokens.at(-1 - (age % device.accessTokens.length))
  // Before any device is paired, a key takes its place.
  return device && token ? { kind: 'device', device, token } : callerOf(model, { by: 'key', pick })
}

export const sessionOf = ({ sessions }: Model, pick: number): Session | undefined => sessions[newestFirst(pick, sessions.length)]

export const deviceOf = ({ devices }: Model, pick: number): Device | undefined => devices[newestFirst(pick, devices.length)]

/** Small picks mean what is new: that is where things happen. */
const newestFirst = (pick: number, count: number): number => (count === 0 ? 0 : count - 1 - (pick % count))
