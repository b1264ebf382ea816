import { useState } from 'preact/hooks'
import type { Template } from '../../../dashboard/templates/schema.ts'
import type { PairableDevice } from '../../../dashboard/tills/schema.ts'
import type { TillDevice as Device, Way } from '../../../devices/schema.ts'
import { Check, Field } from '../../kit/field.tsx'
import { useLanguage } from '../../shared/language.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { FormatChoice } from '../parts/format-choice.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { TemplateTicks } from '../parts/template-menu.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useTemplates, useTemplateTitle } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'
import { PairDevice } from './pair-device.tsx'
import { useDevicesWords } from './words.ts'

const WAYS: readonly Way[] = ['qr', 'in_person', 'dc_api']
const FIRST_TEMPLATES = ['age_over_18']
const TEMPLATES_MAX = 20

type DialogProps = { /** The one to change; without it a new one is registered. */ device?: Device; onClose: () => void }

/** The name and the templates of a device, new or known. */
export function DeviceDialog({ device, onClose }: DialogProps) {
  const words = useDevicesWords()
  const { save } = useDashboardWords()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const templates = useTemplates()
  const titleOf = useTemplateTitle(templates)
  const [name, setName] = useState(device?.name ?? '')
  const [chosen, setChosen] = useState<readonly string[]>(device?.allowed_templates ?? FIRST_TEMPLATES)
  const [ways, setWays] = useState<readonly Way[]>(device?.ways ?? WAYS)
  const [registered, setRegistered] = useState<PairableDevice>()
  const submit = async () => {
    const body = { name: name.trim(), allowed_templates: chosen, ways }
    if (device) {
      await call(inTenant(`devices/${device.id}?environment=${environment}`), { method: 'PUT', body })
      return onClose()
    }
    setRegistered(await call<PairableDevice>(inTenant(`devices?environment=${environment}`), { method: 'POST', body }))
  }
  const isReady = chosen.length > 0 && chosen.length <= TEMPLATES_MAX && ways.length > 0
  return (
    <FormDialog
      title={registered ? words.pairTitle(registered.device.name) : device ? words.changeTitle(device.name) : words.registerTitle}
      verb={device ? save : words.register}
      isReady={isReady}
      onSubmit={submit}
      onClose={onClose}
      result={registered && <PairDevice registered={registered} onClose={onClose} />}
    >
      <Field
        label={words.name}
        hint={words.nameHint}
        autocomplete="off"
        required
        autofocus
        maxLength={64}
        value={name}
        onText={setName}
      />
      <fieldset class="choices">
        <legend>{words.templates}</legend>
        <Loaded data={templates}>
          {({ data }) => {
            const others = othersIn(data, device)
            const choosing = { others, chosen, onChoose: setChosen }
            return (
              <>
                <TemplateTicks templates={data} isChosen={each => nameOf(each, chosen) !== undefined}>
                  {template => <TemplateCheck key={template.key} template={template} {...choosing} />}
                </TemplateTicks>
                <OtherChecks names={others} titleOf={titleOf} chosen={chosen} onChoose={setChosen} />
              </>
            )
          }}
        </Loaded>
      </fieldset>
      <fieldset class="choices">
        <legend>{words.ways}</legend>
        {WAYS.map(way => (
          <Check
            key={way}
            label={words.wayNames[way]}
            isChecked={ways.includes(way)}
            onCheck={isIn => setWays(WAYS.filter(each => (each === way ? isIn : ways.includes(each))))}
          />
        ))}
      </fieldset>
      {!isReady && <p class="hint">{words.templatesMissing}</p>}
    </FormDialog>
  )
}

/** Names of the device that no row stands for: of templates that do not exist, or not yet, and second ones of a template. */
const othersIn = (templates: readonly Template[], device: Device | undefined): string[] =>
  (device?.allowed_templates ?? []).filter((name, _, all) => !templates.some(each => nameOf(each, all) === name))

/** The name by which a template is chosen: its key, or an alias for one format. */
const nameOf = ({ key, aliases }: Template, chosen: readonly string[]): string | undefined =>
  chosen.find(name => name === key || aliases.some(alias => alias.key === name))

type OthersProps = { names: readonly string[]; titleOf: (name: string) => string } & Choosing

function OtherChecks({ names, titleOf, chosen, onChoose }: OthersProps) {
  return names.map(name => (
    <Check
      key={name}
      label={titleOf(name)}
      isChecked={chosen.includes(name)}
      onCheck={isIn => onChoose(isIn ? [...chosen, name] : chosen.filter(each => each !== name))}
    />
  ))
}

type Choosing = { chosen: readonly string[]; onChoose: (names: readonly string[]) => void }
type CheckProps = { template: Template; others: readonly string[] } & Choosing

/** A template of both formats has a choice of one, which chooses its alias. */
function TemplateCheck({ template, others, chosen, onChoose }: CheckProps) {
  const { formatOf } = useDashboardWords()
  const title = template.localized.title[useLanguage()]
  const { key, aliases } = template
  const name = nameOf(
    template,
    chosen.filter(each => !others.includes(each)),
  )
  const rename = (next: string) => onChoose([...new Set(chosen.map(each => (each === name ? next : each)))])
  return (
    <div class="line tight middle between">
      <Check
        label={title}
        isChecked={name !== undefined}
        onCheck={isIn => onChoose(isIn ? [...chosen, key] : chosen.filter(each => each !== name))}
      />
      {name !== undefined && aliases.length > 0 && (
        <FormatChoice
          label={formatOf(title)}
          format={aliases.find(alias => alias.key === name)?.format}
          onChoose={format => rename(aliases.find(alias => alias.format === format)?.key ?? key)}
        />
      )}
    </div>
  )
}
