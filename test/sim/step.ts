import fc from 'fast-check'
import type { Command } from './command.ts'
import * as devices from './commands/devices.ts'
import * as inPerson from './commands/in-person.ts'
import * as logins from './commands/logins.ts'
import * as operator from './commands/operator.ts'
import * as time from './commands/time.ts'
import * as verifications from './commands/verifications.ts'
import * as wallet from './commands/wallet.ts'
import type { Model } from './model.ts'
import { type Simulation, settle } from './simulation.ts'

const COMMANDS = { ...verifications, ...wallet, ...inPerson, ...logins, ...devices, ...operator, ...time } as Record<
  string,
  Command<unknown>
>

/** One step as plain JSON. */
export type Step = { do: string; with: unknown }

/** As fast-check takes it: whether the model allows it, and what it does to the service. Its text is its JSON. */
export class StepCommand implements fc.AsyncCommand<Model, Simulation> {
  private readonly command: Command<unknown>

  constructor(private readonly step: Step) {
    const command = COMMANDS[step.do]
    if (!command) throw new Error(`there is no command ${step.do}`)
    this.command = command
  }

  check(model: Model): boolean {
    return this.command.can?.(model, this.step.with) ?? true
  }

  async run(_: Model, simulation: Simulation): Promise<void> {
    simulation.steps++
    try {
      await this.command.run(simulation, this.step.with)
      await settle(simulation)
    } catch (error) {
      throw new Error(`step ${simulation.steps}, ${this}: ${(error as Error).message}`, { cause: error })
    }
  }

  toString(): string {
    return JSON.stringify(this.step)
  }
}

/** Each as often as its weight says. */
export const anyStep: fc.Arbitrary<StepCommand> = fc.oneof(
  ...Object.entries(COMMANDS).map(([name, { weight, args }]) => ({
    weight,
    arbitrary: args.map(given => new StepCommand({ do: name, with: given })),
  })),
)
