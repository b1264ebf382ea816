import type { Deps } from '../../deps.ts'
import { RegistrationProblem } from '../../signing/problem.ts'
import { addRegistration, presentRegistration, readRegistrations, removeRegistration } from '../../signing/registrations.ts'
import { findings } from '../../web/shared/findings/en.ts'
import { say } from '../../web/shared/findings/say.ts'
import { argument, defineCommand, listing } from '../command.ts'
import { optional, repeated, text } from '../flags.ts'
import { ACTOR, CommandError } from '../output.ts'
import { readTextFile } from '../pem-file.ts'
import { requireTenant, withDeps } from '../with-deps.ts'

export const command = defineCommand(
  {
    summary: 'add, list and remove registration certificates',
    subcommands: {
      add: {
        argument: argument('file', 'FILE', 'the file'),
        flags: {
          template: repeated(text('KEY'), 'requests of this template carry it, whatever it covers; may be repeated'),
          tenant: optional(text('ID'), 'it was issued to this tenant; without it, to the installation'),
        },
      },
      list: {},
      remove: { argument: argument('id', 'ID', 'the id of the registration certificate') },
    },
    about: `A registrar's word on what you may ask for, and why: a JWT for each intended use (ETSI TS 119 475).
FILE is the JWT, or the JSON document around it. Each request carries one: that of its template,
else of those that cover the query the one with the fewest claims, else the nearest. Requests to
the EU age app carry none. VIDIMUS_REGISTRATION_CERT counts only while nothing is stored.`,
    example: 'vidimus registration add registration-certificate.json --template age_over_18',
  },
  {
    async add({ file, template: templates = [], tenant }, shell) {
      const content = readTextFile(file, 'registration certificate')
      const adding = withDeps(shell, async deps => {
        if (tenant !== undefined) await requireTenant(deps, tenant)
        const { row, notes } = await addRegistration(deps, { text: content, templates, owner: tenant ?? null }, ACTOR)
        return { shown: presentRegistration(row, deps.now()), notes: notes.map(note => say(findings, note).detail) }
      })
      const { shown, notes } = await adding.catch(error => {
        throw error instanceof RegistrationProblem ? new CommandError(`${file}: ${error.message}`) : error
      })
      const purpose = shown.purposes[0]?.value
      return {
        json: { ...shown, notes },
        text: `Registration certificate ${shown.id} of ${shown.subject}${purpose ? ` (${purpose})` : ''}, valid ${untilOf(shown)}.`,
        note: notes.join('\n'),
      }
    },

    list: async (_, shell) =>
      listing(
        await withDeps(shell, presentAll),
        {
          ID: each => each.id,
          OF: each => each.subject,
          TENANT: each => each.tenant ?? 'all',
          PURPOSE: each => each.purposes[0]?.value ?? each.intended_use ?? '',
          TEMPLATES: each => each.templates.join(', ') || 'by what it covers',
          VALID: untilOf,
        },
        'No registration certificates are stored.\nNext: vidimus registration add FILE',
      ),

    async remove({ id }, shell) {
      if (!(await withDeps(shell, deps => removeRegistration(deps, id, ACTOR))))
        throw new CommandError(`there is no registration certificate ${id}; "vidimus registration list" shows all`)
      return { json: { id, removed: true }, text: `Registration certificate ${id} is removed.` }
    },
  },
)

async function presentAll(deps: Deps) {
  const at = deps.now()
  return (await readRegistrations(deps)).map(row => presentRegistration(row, at))
}

const untilOf = ({ not_after }: { not_after: string | null }): string =>
  not_after === null ? 'without end' : `until ${not_after.slice(0, 10)}`
