import { defineCommand } from '../command.ts'
import { table } from '../output.ts'
import { partsInside } from './parts.ts' with { type: 'macro' }

const PARTS = partsInside()

export const command = defineCommand(
  {
    summary: 'print the licences of everything inside',
    about: `Prints each part of the program with its licence, then the texts of the licences. Vidimus itself is under
Apache-2.0. Its release also has a bill of materials, vidimus.cdx.json.`,
    example: 'vidimus licences | less',
  },
  async () => {
    const rows = PARTS.map(({ name, version, licence }) => [name, version, licence])
    const texts = PARTS.map(
      ({ name, version, text }) => `== ${name} ${version}\n\n${text || 'It comes without a text of its licence.'}`,
    )
    return { json: { parts: PARTS }, text: `${table(['PART', 'VERSION', 'LICENCE'], rows)}\n\n${texts.join('\n\n')}` }
  },
)
