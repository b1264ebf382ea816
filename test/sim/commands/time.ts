import fc from 'fast-check'
import { command } from '../command.ts'
import { same } from '../expect.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../model.ts'
import { moveClock } from '../simulation.ts'
import { crash, restart } from '../world.ts'

const STEPS_MS = [1, SECOND, SECOND, 10 * SECOND, MINUTE, MINUTE, 5 * MINUTE, 10 * MINUTE, HOUR, DAY, 31 * DAY]

export const wait = command<{ ms: number }>({
  weight: 8,
  args: fc.record({ ms: fc.constantFrom(...STEPS_MS) }),
  run: async (simulation, { ms }) => moveClock(simulation, ms),
})

/** Somebody sets the clock back. */
export const stepBack = command<{ ms: number }>({
  weight: 2,
  args: fc.record({ ms: fc.constantFrom(SECOND, 5 * MINUTE, HOUR) }),
  // A machine that is a day behind is refused at its start, which is another test's matter.
  can: ({ wall, now }) => now - wall < 6 * HOUR,
  run: async (simulation, { ms }) => moveClock(simulation, -ms),
})

/** To the last millisecond of a day, or the first of the next. */
export const toMidnight = command<{ beforeMs: number }>({
  weight: 2,
  args: fc.record({ beforeMs: fc.constantFrom(0, 1, 2) }),
  async run(simulation, { beforeMs }) {
    const { wall } = simulation.model
    moveClock(simulation, DAY - (wall % DAY) - beforeMs)
  },
})

/** To the very millisecond at which something ends, or the one before. */
export const toDeadline = command<{ pick: number; beforeMs: number }>({
  weight: 4,
  args: fc.record({ pick: fc.nat(10), beforeMs: fc.constantFrom(0, 1) }),
  async run(simulation, { pick, beforeMs }) {
    const { model } = simulation
    const deadlines = [
      ...model.sessions.flatMap(({ expiresAt, code, login }) =>
        [expiresAt, code?.expiresAt, login?.code?.expiresAt, login?.token?.expiresAt].map(at => at ?? 0),
      ),
      ...model.devices.flatMap(({ accessTokens, spendables }) =>
        [...accessTokens, ...spendables].map(({ expiresAt }) => expiresAt),
      ),
      ...[...model.kept.values()].map(({ expiresAt }) => expiresAt),
      ...Object.values(model.webhookSecrets)
        .flat()
        .map(({ validUntil }) => validUntil ?? 0),
    ].filter(deadline => deadline - beforeMs > model.now)
    const deadline = deadlines[pick % deadlines.length]
    // While the clock is behind, time goes at half speed: only with the right one can a moment be met.
    if (deadline !== undefined && model.wall === model.now) moveClock(simulation, deadline - beforeMs - model.now)
  },
})

export const stopAndStart = command<{ isClean: boolean }>({
  weight: 4,
  args: fc.record({ isClean: fc.boolean() }),
  can: ({ isAlone }) => isAlone,
  async run({ world, model }, { isClean }) {
    await (isClean ? restart : crash)(world, model.wall)
    // No token, code or quota day is revived by a clock that was set back in the meantime.
    const now = world.app.deps.now()
    // A burst of creations or registrations runs ahead of the clock, and the next start does not go behind the last of them.
    same(
      now >= model.now && now <= Math.max(model.now, ...[...model.sessions, ...model.devices].map(({ createdAt }) => createdAt)),
      true,
      `${now} after a start`,
    )
    model.now = now
    world.app.clock.set(now)
  },
})
